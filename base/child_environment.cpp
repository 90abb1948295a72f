#include "base/child_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace deft {

namespace {

std::string_view name_of_entry(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

}  // namespace

bool redirects_children(std::string_view name) {
    // mpirun refuses to start within a launch, which it recognises by OMPI_UNIVERSE_SIZE and OMPI_MCA_ess.
    constexpr std::array<std::string_view, 6> kPrefixes = {
        "GIT_", "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_SIZE", "OMPI_MCA_ess", "PMI_", "PMIX_"};
    if (name == "PYTHONINSPECT") return true;
    if (name.starts_with("PMIX_MCA_")) return false;  // settings, which users make
    return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<char*> child_environment(const std::vector<std::string>& changed) {
    std::vector<char*> result;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view name = name_of_entry(*entry);
        const bool is_changed =
            std::ranges::any_of(changed, [&](const std::string& other) { return name_of_entry(other) == name; });
        if (!is_changed && !redirects_children(name)) result.push_back(*entry);
    }
    for (const std::string& entry : changed) result.push_back(const_cast<char*>(entry.c_str()));
    result.push_back(nullptr);
    return result;
}

}  // namespace deft
