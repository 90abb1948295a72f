#pragma once
// The layout below --root: results.db, runs/, checkpoints/, data/.

#include <filesystem>
#include <string>
#include <vector>

namespace deft::sweeps {

inline constexpr const char* kDefaultRoot = "deft-runs";

std::filesystem::path database_file(const std::filesystem::path& root);
// The same for who writes it: the root's folder is made. Errors: io; usage, for a root whose path is not UTF-8.
std::filesystem::path database_in(const std::filesystem::path& root);
// Tokenised corpora, and what was found out about them.
std::filesystem::path data_folder(const std::filesystem::path& root);
// The beginning of a hash, to name a folder by. It may come from a database, which may be another's. Errors: database,
// for text that is not a hash.
std::string folder_name_of(const std::string& config_hash, std::size_t digits);
// Where the checkpoints of a trial's configuration are, shared by its attempts.
std::filesystem::path checkpoint_folder(const std::filesystem::path& root, const std::string& config_hash);

// root / path, for a path that a database names: the database may be another's, and must not lead out of the root.
// Links are followed, and it still has to lie below the root. The folders right under the root (runs, checkpoints) may
// themselves be links, as to a larger disk. Errors: database.
std::filesystem::path below_root(const std::filesystem::path& root, const std::filesystem::path& path);

}  // namespace deft::sweeps
