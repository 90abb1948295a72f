#include "reporting/analysis/results/configuration_diff.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "base/json.h"

namespace deft::reporting {

namespace {

// Keyed by dotted path; arrays are values.
void flatten(const Json& json, const std::string& path, std::map<std::string, std::string>& into) {
    if (json.is_object() && (!json.empty() || path.empty())) {
        for (const auto& [key, value] : json.items()) flatten(value, path.empty() ? key : path + "." + key, into);
        return;
    }
    into[path] = json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string value_of(const std::map<std::string, std::string>& values, const std::string& path) {
    const auto found = values.find(path);
    return found == values.end() ? "none" : found->second;
}

}  // namespace

std::vector<ConfigurationDifference> configuration_differences(const std::string& from_json,
                                                               const std::string& to_json) {
    const Json from = try_parse_json(from_json), to = try_parse_json(to_json);
    if (!from.is_object() || !to.is_object()) return {};
    std::map<std::string, std::string> before, after;
    flatten(from, "", before);
    flatten(to, "", after);
    std::set<std::string> paths;
    for (const auto* values : {&before, &after})
        for (const auto& [path, value] : *values) paths.insert(path);
    std::vector<ConfigurationDifference> differences;
    for (const std::string& path : paths) {
        if (path == "seed" || path.starts_with("start.") || path.starts_with("local.")) continue;
        std::string old_value = value_of(before, path), new_value = value_of(after, path);
        if (old_value != new_value) differences.push_back({path, std::move(old_value), std::move(new_value)});
    }
    return differences;
}

std::string to_text(const ConfigurationDifference& difference) {
    return fmt::format("{}: {} -> {}", difference.key, difference.from, difference.to);
}

}  // namespace deft::reporting
