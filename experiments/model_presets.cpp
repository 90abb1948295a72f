#include "experiments/model_presets.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "base/files.h"
#include "base/installed_files.h"

namespace deft::experiments {

namespace {

std::filesystem::path presets_folder() {
    return installed_file("experiments/presets");
}

}  // namespace

std::vector<std::string> model_presets() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(presets_folder()))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

ConfigNode load_model_preset(const std::string& name) {
    const std::vector<std::string> known = model_presets();
    if (std::find(known.begin(), known.end(), name) == known.end())
        throw std::logic_error("there is no model preset called " + name);
    const std::filesystem::path file = presets_folder() / (name + ".toml");
    return parse_toml(read_file(file), file.string());
}

}  // namespace deft::experiments
