#pragma once
// Where the program finds the files that belong to it: tasks, the catalogue, published tables, scripts.

#include <filesystem>
#include <optional>
#include <string>

namespace deft {

// A folder that holds the project's files under their paths in the source tree: $DEFT_FILES where that is set; else,
// seen from the program's own folder, ../share/deft (installed), share/deft (a build folder, wherever it is), or the
// source tree that the build folder lies in. Nothing where none of them is there.
std::optional<std::filesystem::path> files_folder();

// The path of a file or folder of the project, as in "experiments/datasets.toml".
// Errors: missing, with the places that were looked at.
std::filesystem::path installed_file(const std::string& path);

// A path that exists, or is absolute, as it is; else the project's file of that path, where there is one.
std::filesystem::path here_or_installed(const std::filesystem::path& path);

// The same for a program elsewhere, which tests need.
std::optional<std::filesystem::path> files_folder_of(const std::filesystem::path& program);
std::filesystem::path installed_file_of(const std::filesystem::path& program, const std::string& path);

}  // namespace deft
