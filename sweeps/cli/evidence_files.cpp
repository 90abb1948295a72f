#include "sweeps/cli/evidence_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/installed_files.h"
#include "base/text_stream.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/driver/root.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqlite = "SQLite format 3";

bool is_database(const fs::path& file) {
    std::string begin(kSqlite.size(), '\0');
    std::ifstream in(file, std::ios::binary);
    in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    return begin == kSqlite;
}

void add_database(const fs::path& file, std::vector<results_db::NamedEvidence>& texts) {
    const results_db::Reader reader(file);
    std::vector<results_db::SweepHead> sweeps = reader.sweeps();
    std::reverse(sweeps.begin(), sweeps.end());
    for (const results_db::SweepHead& sweep : sweeps) {
        const std::string name = results_db::full_name(sweep);
        texts.push_back({fmt::format("{} ({})", file.string(), name), reader.evidence(name, 0).text});
    }
}

// A text as it is, or packed: a small packed file may hold more than fits into memory.
std::string evidence_in(const fs::path& file) {
    TextStream stream(file);
    std::string text, part(std::size_t{1} << 18, '\0');
    while (const std::size_t count = stream.read(part.data(), part.size())) {
        text.append(part, 0, count);
        if (text.size() > results_db::kMostReadBytes)
            throw Error(ErrorKind::database,
                        fmt::format("{} has more than {} bytes of text, and no evidence has more", file.string(),
                                    results_db::kMostReadBytes),
                        "name what `deft db export SWEEP --out FILE` wrote", "the database");
    }
    return text;
}

}  // namespace

void add_from(CLI::App& command, std::vector<std::string>& from) {
    command.add_option("--from", from,
                       "Read these files in place of a root: what `deft db export` wrote, as in evidence/, also "
                       ".gz or .zst, or results.db of another root");
}

void take_name(std::vector<std::string>& from, std::string& name) {
    if (!name.empty() || from.size() < 2) return;
    const bool is_sweep = from.back().ends_with(".toml");
    if (!is_sweep && (fs::exists(from.back()) || from.back().find_first_of("./") != std::string::npos)) return;
    name = from.back();
    from.pop_back();
}

results_db::Reader open_results(const std::string& root, const std::vector<results_db::NamedEvidence>& files) {
    return files.empty() ? open_results(root) : results_db::Reader(files);
}

std::vector<results_db::NamedEvidence> read_evidence(const std::vector<std::string>& paths) {
    std::vector<results_db::NamedEvidence> texts;
    for (const std::string& path : paths) {
        const fs::path file = fs::is_directory(path) ? sweeps::database_file(path) : here_or_installed(path);
        if (!fs::exists(file))
            throw Error(ErrorKind::usage, fmt::format("file {} does not exist", file.string()),
                        "name what `deft db export SWEEP --out FILE` wrote, or a results.db");
        if (!fs::is_regular_file(file))
            throw Error(ErrorKind::usage, fmt::format("{} is not a regular file", file.string()),
                        "name a regular file");
        if (is_database(file)) {
            add_database(file, texts);
            continue;
        }
        texts.push_back({path, evidence_in(file)});
    }
    for (const std::string& lack : results_db::lacking_parts(texts)) print_note(lack);
    return texts;
}

}  // namespace deft::cli
