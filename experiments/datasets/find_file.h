#pragma once
// Where the files of corpora and tasks are looked for.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace deft::experiments {

// Where `deft data get` puts files: DEFT_DATA, else XDG_DATA_HOME/deft/data, else ~/.local/share/deft/data; empty where
// none of those variables and no HOME is set.
std::filesystem::path download_folder();
// The folder that DEFT_DATA_MIRROR names, or empty.
std::filesystem::path mirror_folder();

// Where data files are looked for, in this order: mirror_folder(), download_folder(), base_folder.
std::vector<std::filesystem::path> data_folders(const std::filesystem::path& base_folder);

// FOLDER/NAME, or the same as .gz or .zst.
std::optional<std::filesystem::path> look_in_folder(const std::filesystem::path& folder, const std::string& name);

// Searched in the data_folders(), each also as .gz and .zst; an absolute path is used as it is.
std::optional<std::filesystem::path> look_for_data_file(const std::string& name,
                                                        const std::filesystem::path& base_folder);

// Errors: data, naming the places that were looked at.
std::filesystem::path find_data_file(const std::string& name, const std::filesystem::path& base_folder);

}  // namespace deft::experiments
