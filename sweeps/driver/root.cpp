#include "sweeps/driver/root.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "reporting/text.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

bool begins_with(const fs::path& path, const fs::path& folder) {
    const auto [in_folder, in_path] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return in_folder == folder.end();
}

// "runs/x" of "runs/y/../x"; empty where the path leaves its start.
fs::path plain(const fs::path& path) {
    const fs::path normal = path.lexically_normal();
    if (normal.empty() || normal.is_absolute() || *normal.begin() == ".." || normal == ".") return {};
    return normal;
}

}  // namespace

std::string folder_name_of(const std::string& config_hash, std::size_t digits) {
    if (config_hash.size() < digits || config_hash.find_first_not_of("0123456789abcdef") != std::string::npos)
        throw Error(ErrorKind::database,
                    fmt::format("the results database has a trial of hash {}", reporting::visible(config_hash)),
                    "trust nothing else of it either; results of your own have hexadecimal hashes", "all files");
    return config_hash.substr(0, digits);
}

fs::path database_file(const fs::path& root) {
    return root / "results.db";
}

fs::path database_in(const fs::path& root) {
    static_cast<void>(json_text(fs::absolute(root).string()));  // trials are given names of files below it
    make_folder(root);
    return database_file(root);
}

fs::path data_folder(const fs::path& root) {
    return root / "data";
}

fs::path checkpoint_folder(const fs::path& root, const std::string& config_hash) {
    constexpr std::size_t kDigits = 16;
    return root / "checkpoints" / folder_name_of(config_hash, kDigits);
}

fs::path below_root(const fs::path& root, const fs::path& path) {
    const fs::path inside = plain(path);
    std::error_code error;
    if (!inside.empty()) {
        const bool in_a_folder = std::next(inside.begin()) != inside.end();
        const fs::path folder = fs::weakly_canonical(in_a_folder ? root / *inside.begin() : root, error);
        const fs::path real = fs::weakly_canonical(root / inside, error);
        if (!error && begins_with(real, folder)) return root / inside;
    }
    throw Error(ErrorKind::database,
                fmt::format("the results database names {}, which is not below {}", reporting::visible(path.string()),
                            reporting::visible(root.string())),
                "trust no other path of this database either; results of your own are below --root", "all files");
}

}  // namespace deft::sweeps
