#include "experiments/tuning/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "experiments/projection.h"

namespace deft::experiments {

namespace {

constexpr const char* kRoutings[] = {"random_ltd", "token_bypass"};

// A configuration's JSON has the names and the values of its TOML.
Json& table_at(Json& json, const std::string& path) {
    const std::size_t dot = path.find('.');
    if (dot == std::string::npos) return json.at(path);
    return json.at(path.substr(0, dot)).at(path.substr(dot + 1));
}

const char* step_key(const std::string& path) {
    return path.starts_with("curriculum.") ? "difficulty_step" : "step";
}

// Nothing where it does not grow from a start over a duration.
std::optional<Growth> growth_of(const std::string& path, const Json& table, std::int64_t baseline_steps) {
    const std::string pacing = table.value("pacing", "linear");
    if (pacing == "discrete" || pacing == "points") return {};
    Growth growth;
    growth.path = path;
    growth.min = table.value("min", std::int64_t{0});
    growth.max = table.value("max", std::int64_t{0});
    growth.step = table.value(step_key(path), std::int64_t{1});
    growth.least_min = std::max<std::int64_t>(1, table.value("keep_first", std::int64_t{0}));
    growth.steps = table.value("steps", std::int64_t{0});
    growth.duration = growth.steps > 0 ? static_cast<double>(growth.steps) / static_cast<double>(baseline_steps)
                                       : table.value("duration", 0.0);
    const bool grows = growth.min >= 1 && growth.max > growth.min && growth.step >= 1 && growth.duration > 0;
    return grows ? std::optional(growth) : std::nullopt;
}

void write(Json& json, const Growth& growth) {
    Json& table = table_at(json, growth.path);
    table["min"] = growth.min;
    table["duration"] = growth.steps > 0 ? 0.0 : growth.duration;
    table["steps"] = growth.steps;
}

}  // namespace

std::vector<Growth> growths_of(const TrialConfig& config, std::vector<std::string>& left_out) {
    Json json = to_json(config);
    const std::int64_t baseline_steps = project(without_techniques(config)).steps;
    std::vector<std::string> paths;
    if (json.contains("curriculum"))
        for (const auto& [metric, table] : json["curriculum"].items())
            if (table.is_object()) paths.push_back("curriculum." + metric);
    for (const char* routing : kRoutings)
        if (json.contains(routing)) paths.push_back(routing);

    std::vector<Growth> growths;
    for (const std::string& path : paths) {
        if (const auto growth = growth_of(path, table_at(json, path), baseline_steps))
            growths.push_back(*growth);
        else
            left_out.push_back(fmt::format("{} is left as it is: it does not grow from a min over a duration.", path));
    }
    return growths;
}

TrialConfig with_growth(const TrialConfig& config, const Growth& growth) {
    Json json = to_json(config);
    write(json, growth);
    return from_json(json);
}

TrialConfig with_growth_alone(const TrialConfig& config, const Growth& growth) {
    Json json = to_json(config), alone = to_json(without_techniques(config));
    write(json, growth);
    const std::size_t dot = growth.path.find('.');
    Json& parent = dot == std::string::npos ? alone : alone[growth.path.substr(0, dot)];
    parent[growth.path.substr(dot == std::string::npos ? 0 : dot + 1)] = table_at(json, growth.path);
    return from_json(alone);
}

TrialConfig without_techniques(const TrialConfig& config) {
    Json json = to_json(config);
    json.erase("curriculum");
    for (const char* routing : kRoutings) json.erase(routing);
    return from_json(json);
}

TrialConfig with_learning_rate(const TrialConfig& config, double rate) {
    Json json = to_json(config);
    json["train"]["learning_rate"] = rate;
    return from_json(json);
}

StartGrid::StartGrid(const Growth& growth)
    : first((growth.least_min + growth.step - 1) / growth.step * growth.step), step(growth.step), last(growth.max) {}

// The multiples below the end, and the end.
std::size_t StartGrid::size() const {
    return first >= last ? 1 : static_cast<std::size_t>((last - first + step - 1) / step + 1);
}

std::int64_t StartGrid::at(std::size_t index) const {
    return std::min(last, first + static_cast<std::int64_t>(index) * step);
}

}  // namespace deft::experiments
