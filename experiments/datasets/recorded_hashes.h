#pragma once
// FOLDER/datasets.sha256.json: the hashes of files whose hash the catalogue does not know, as they were when they first
// came into the folder.

#include <filesystem>
#include <string>

namespace deft::experiments {

// Empty where none is recorded. Errors: io, for a damaged file.
std::string recorded_sha256(const std::filesystem::path& folder, const std::string& name);

// Errors: io.
void record_sha256(const std::filesystem::path& folder, const std::string& name, const std::string& sha256);

}  // namespace deft::experiments
