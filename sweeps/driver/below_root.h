#pragma once
// Paths that a database names: it may be another's, and must not lead out of the root.

#include <filesystem>

namespace deft::sweeps {

// root / path, where links are followed and it still lies below the root. The folders right under the root (runs,
// checkpoints) may themselves be links, as to a larger disk. Errors: database.
std::filesystem::path below_root(const std::filesystem::path& root, const std::filesystem::path& path);

}  // namespace deft::sweeps
