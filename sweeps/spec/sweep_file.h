#pragma once
// The file that a sweep's name or path means.

#include <filesystem>
#include <optional>
#include <string>

namespace deft::sweeps {

// The bundled sweep of that name, as in quickstart, quickstart.toml or sweeps/quickstart.toml.
std::optional<std::filesystem::path> bundled_sweep(const std::filesystem::path& given);

// The path itself where it exists; else the bundled sweep of that name; else the path unchanged.
std::filesystem::path sweep_file(const std::filesystem::path& given);

// The sweep file in the same folder, or else the bundled sweep, that a misspelt path may mean; empty where none is
// near.
std::string nearest_sweep_file(const std::filesystem::path& given);

}  // namespace deft::sweeps
