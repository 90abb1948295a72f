#include "experiments/datasets/find_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "experiments/datasets/catalogue.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// Unset and empty are the same.
std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// How to get a file of a data set that the catalogue knows; empty for another one.
std::string supply_of(const std::string& name) {
    for (const CatalogueEntry& entry : load_catalogue())
        for (const CatalogueForm& form : entry.forms)
            for (const CatalogueFile& file : form.files)
                if (file.path == name)
                    return fmt::format("deft data get {0} (deft data info {0} says where from), or ", entry.name);
    return {};
}

}  // namespace

fs::path download_folder() {
    if (const std::string chosen = variable("DEFT_DATA"); !chosen.empty()) return chosen;
    if (const std::string data = variable("XDG_DATA_HOME"); !data.empty()) return fs::path(data) / "deft" / "data";
    const std::string home = variable("HOME");
    return home.empty() ? fs::path() : fs::path(home) / ".local" / "share" / "deft" / "data";
}

fs::path mirror_folder() {
    return variable("DEFT_DATA_MIRROR");
}

std::vector<fs::path> data_folders(const fs::path& base_folder) {
    std::vector<fs::path> all;
    for (const fs::path& folder : {mirror_folder(), download_folder()})
        if (!folder.empty()) all.push_back(folder);
    all.push_back(base_folder);
    return all;
}

std::optional<fs::path> look_in_folder(const fs::path& folder, const std::string& name) {
    return find_text_file(folder / name);
}

std::optional<fs::path> look_for_data_file(const std::string& name, const fs::path& base_folder) {
    for (const fs::path& folder : data_folders(base_folder))
        if (const auto found = look_in_folder(folder, name)) return found;
    return std::nullopt;
}

fs::path find_data_file(const std::string& name, const fs::path& base_folder) {
    if (const auto found = look_for_data_file(name, base_folder)) return *found;
    std::vector<std::string> places;
    for (const fs::path& folder : data_folders(base_folder)) places.push_back((folder / name).string());
    throw Error(ErrorKind::data, fmt::format("data file {} is missing; looked at {}", name, fmt::join(places, ", ")),
                supply_of(name) + "set DEFT_DATA_MIRROR to the folder that holds it, or put it beside the sweep file");
}

}  // namespace deft::experiments
