#pragma once
// Where the files of corpora and tasks are looked for.

#include <filesystem>
#include <optional>
#include <string>

namespace deft::experiments {

// Looked for in the folder that DEFT_DATA_MIRROR names, then in base_folder, each also as .gz and .zst; an absolute
// path stands for itself.
std::optional<std::filesystem::path> look_for_data_file(const std::string& name,
                                                        const std::filesystem::path& base_folder);

// Errors: data, naming the places that were looked at.
std::filesystem::path find_data_file(const std::string& name, const std::filesystem::path& base_folder);

}  // namespace deft::experiments
