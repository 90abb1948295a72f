#include "sweeps/spec/sweep_file.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/installed_files.h"
#include "base/suggestion.h"

namespace deft::sweeps {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> sweep_files_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

std::optional<fs::path> bundled_sweep(const fs::path& given) {
    const std::optional<fs::path> files = files_folder();
    const bool is_name = !given.has_parent_path() || given.parent_path() == "sweeps";
    if (!files || given.empty() || !is_name) return {};
    std::error_code ignored;
    for (const std::string& name : {given.filename().string(), given.filename().string() + ".toml"}) {
        fs::path bundled = *files / "sweeps" / name;
        if (bundled.extension() == ".toml" && fs::is_regular_file(bundled, ignored)) return bundled;
    }
    return {};
}

fs::path sweep_file(const fs::path& given) {
    std::error_code ignored;
    return fs::is_regular_file(given, ignored) ? given : bundled_sweep(given).value_or(given);
}

std::string nearest_sweep_file(const fs::path& given) {
    const fs::path folder = given.has_parent_path() ? given.parent_path() : fs::path(".");
    const std::string beside = did_you_mean(given.filename().string(), sweep_files_in(folder));
    if (!beside.empty()) return (given.parent_path() / beside).string();
    const std::optional<fs::path> files = files_folder();
    if (!files || given.has_parent_path()) return "";
    const std::string bundled = did_you_mean(given.stem().string() + ".toml", sweep_files_in(*files / "sweeps"));
    return fs::path(bundled).stem().string();
}

}  // namespace deft::sweeps
