#include "experiments/datasets/find_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <vector>

#include "base/error.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> candidates(const std::string& name, const fs::path& base_folder) {
    std::vector<fs::path> paths;
    if (const char* mirror = std::getenv("DEFT_DATA_MIRROR"); mirror != nullptr && *mirror != '\0')
        paths.push_back(fs::path(mirror) / name);
    paths.push_back(base_folder / name);
    return paths;
}

}  // namespace

std::optional<fs::path> look_for_data_file(const std::string& name, const fs::path& base_folder) {
    for (const fs::path& path : candidates(name, base_folder))
        for (const char* packed : {"", ".gz", ".zst"})
            if (fs::is_regular_file(path.string() + packed)) return path.string() + packed;
    return std::nullopt;
}

fs::path find_data_file(const std::string& name, const fs::path& base_folder) {
    if (const auto found = look_for_data_file(name, base_folder)) return *found;
    std::vector<std::string> places;
    for (const fs::path& path : candidates(name, base_folder)) places.push_back(path.string());
    throw Error(ErrorKind::data,
                fmt::format("data file {} is missing; looked at {}", name, fmt::join(places, ", ")),
                "set DEFT_DATA_MIRROR to the folder that holds it, or put it beside the sweep file");
}

}  // namespace deft::experiments
