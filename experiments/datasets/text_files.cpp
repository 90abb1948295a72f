#include "experiments/datasets/text_files.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text_stream.h"
#include "experiments/datasets/find_file.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

bool is_packed(const fs::path& file) {
    return file.extension() == ".gz" || file.extension() == ".zst";
}

// Without .gz and .zst.
fs::path unpacked(fs::path file) {
    return is_packed(file) ? file.replace_extension() : file;
}

// Files by their names without packing; of two with one name, the plain one.
class FoundFiles {
 public:
    explicit FoundFiles(fs::path folder) : folder_(std::move(folder)) {}

    void add(const fs::path& path) {
        fs::path& kept = by_name_[unpacked(path).lexically_relative(folder_).generic_string()];
        if (kept.empty() || is_packed(kept)) kept = path;
    }

    std::vector<TextFile> in_order() const {
        std::vector<TextFile> files;
        for (const auto& [name, path] : by_name_) files.push_back({path.lexically_relative(folder_).string(), path});
        return files;
    }

 private:
    fs::path folder_;
    std::map<std::string, fs::path> by_name_;
};

bool is_hidden(const fs::path& path) {
    return path.filename().string().starts_with('.');
}

bool is_text_name(const fs::path& path) {
    const fs::path extension = unpacked(path).extension();
    return extension == ".txt" || extension == ".jsonl";
}

std::vector<TextFile> files_in(const fs::path& folder) {
    FoundFiles found(folder);
    try {
        for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::recursive_directory_iterator();
             ++entry) {
            if (is_hidden(entry->path()))
                entry.disable_recursion_pending();
            else if (is_text_name(entry->path()) && entry->is_regular_file())
                found.add(entry->path());
        }
    } catch (const fs::filesystem_error& error) {
        throw Error(ErrorKind::io,
                    fmt::format("cannot read the folder {}: {}", folder.string(), error.code().message()),
                    "make it readable, or name its files");
    }
    std::vector<TextFile> files = found.in_order();
    if (files.empty())
        throw Error(ErrorKind::config, fmt::format("the folder {} holds no .txt and no .jsonl file", folder.string()),
                    "name a folder of text files, each plain, .gz or .zst");
    return files;
}

// Escapes a path for a pattern.
std::string literal(const std::string& path) {
    std::string text;
    for (const char c : path) {
        if (std::string_view("*?[]\\").find(c) != std::string_view::npos) text += '\\';
        text += c;
    }
    return text;
}

std::vector<TextFile> files_matching(const fs::path& folder, const std::string& pattern) {
    const bool absolute = fs::path(pattern).is_absolute();
    const std::string whole = absolute ? pattern : literal((folder / "").string()) + pattern;
    glob_t matches{};
    const int status = ::glob(whole.c_str(), GLOB_NOSORT, nullptr, &matches);
    FoundFiles found(absolute ? fs::path("/") : folder);
    for (std::size_t i = 0; status == 0 && i < matches.gl_pathc; ++i)
        if (fs::is_regular_file(matches.gl_pathv[i])) found.add(matches.gl_pathv[i]);
    ::globfree(&matches);
    return found.in_order();
}

}  // namespace

bool is_pattern(const std::string& name) {
    return name.find_first_of("*?[") != std::string::npos;
}

std::vector<TextFile> text_files(const std::string& name, const fs::path& base_folder) {
    if (const auto file = look_for_data_file(name, base_folder)) return {{name, *file}};
    for (const fs::path& folder : data_folders(base_folder)) {
        std::error_code ignored;
        if (!name.empty() && fs::is_directory(folder / name, ignored))
            return files_in((folder / name).lexically_normal());
        if (!is_pattern(name)) continue;
        if (std::vector<TextFile> files = files_matching(folder, name); !files.empty()) return files;
    }
    return {{name, find_data_file(name, base_folder)}};  // says what is missing, and where it was looked for
}

bool is_json_lines(const std::string& name) {
    const std::string extension = unpacked(name).extension().string();
    if (extension == ".jsonl") return true;
    if (extension == ".txt") return false;
    const std::string what = extension.empty() ? "no extension" : fmt::format("the unknown extension {}", extension);
    throw Error(
        ErrorKind::config, fmt::format("the corpus file {} has {}", name, what),
        "rename it to .txt (one document per file) or .jsonl (key \"text\", one document per line); each may be "
        "compressed (.gz, .zst)",
        "nothing was read");
}

void require_text(const fs::path& file) {
    std::array<char, 1 << 16> buffer;
    const std::size_t count = TextStream(file).read(buffer.data(), buffer.size());
    const std::string_view start(buffer.data(), count);
    const auto zeros = std::count(start.begin(), start.end(), '\0');
    // Bytes of any kind can be trained on; a quarter of zeros is another encoding, or no text.
    const bool wide = start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF");
    if (!wide && zeros * 4 < static_cast<std::ptrdiff_t>(count)) return;
    if (count == 0) return;
    throw Error(ErrorKind::config,
                fmt::format("{} {}", file.string(),
                            wide ? "is text in UTF-16 or UTF-32" : "is not text: a quarter of it are zero bytes"),
                "convert it, as in iconv -f UTF-16 -t UTF-8", "nothing was made of it");
}

}  // namespace deft::experiments
