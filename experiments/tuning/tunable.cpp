#include "experiments/tuning/tunable.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/json.h"
#include "engine/data_efficiency/token_dropping/token_dropping.h"
#include "experiments/projection.h"

namespace deft::experiments {

namespace {

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
std::optional<Tunable> tunable_of(const std::string& path, const Json& table, std::int64_t baseline_steps) {
    const auto pacing = value_named<GrowthPacing>(table.value("pacing", std::string()));
    if (pacing == GrowthPacing::discrete || pacing == GrowthPacing::points) return {};
    Tunable tunable;
    tunable.path = path;
    tunable.min = table.value("min", std::int64_t{0});
    tunable.max = table.value("max", std::int64_t{0});
    tunable.step = table.value(step_key(path), std::int64_t{1});
    tunable.least_min = std::max<std::int64_t>(1, table.value("keep_first", std::int64_t{0}));
    tunable.steps = table.value("steps", std::int64_t{0});
    tunable.duration = tunable.steps > 0 ? static_cast<double>(tunable.steps) / static_cast<double>(baseline_steps)
                                         : table.value("duration", 0.0);
    const bool grows = tunable.min >= 1 && tunable.max > tunable.min && tunable.step >= 1 && tunable.duration > 0;
    return grows ? std::optional(tunable) : std::nullopt;
}

void write(Json& json, const Tunable& tunable) {
    Json& table = table_at(json, tunable.path);
    table["min"] = tunable.min;
    table["duration"] = tunable.steps > 0 ? 0.0 : tunable.duration;
    table["steps"] = tunable.steps;
}

std::vector<std::string> technique_paths(const Json& json) {
    std::vector<std::string> paths;
    if (json.contains("curriculum"))
        for (const auto& [metric, table] : json.at("curriculum").items()) paths.push_back("curriculum." + metric);
    for (const engine::TokenDropper& dropper : engine::token_droppers())
        if (json.contains(dropper.name)) paths.push_back(dropper.name);
    return paths;
}

// Takes out all others, with the files that only they read.
void keep_techniques(Json& json, const std::function<bool(const std::string&)>& keep) {
    for (const std::string& path : technique_paths(json)) {
        if (keep(path)) continue;
        const std::size_t dot = path.find('.');
        if (dot == std::string::npos) {
            json.erase(path);
            continue;
        }
        const std::string metric = path.substr(dot + 1);
        json["curriculum"].erase(metric);
        if (json["local"].contains("columns")) json["local"]["columns"].erase(metric);
    }
    if (json.contains("curriculum") && json["curriculum"].empty()) json.erase("curriculum");
}

}  // namespace

std::vector<Tunable> tunables_of(const TrialConfig& config, std::vector<std::string>& left_out) {
    Json json = to_json(config);
    const std::int64_t baseline_steps = project(without_techniques(config)).steps;
    std::vector<Tunable> tunables;
    for (const std::string& path : technique_paths(json)) {
        if (const auto tunable = tunable_of(path, table_at(json, path), baseline_steps))
            tunables.push_back(*tunable);
        else
            left_out.push_back(fmt::format("{} is unchanged: it does not grow from min over a duration.", path));
    }
    return tunables;
}

TrialConfig with_tunable(const TrialConfig& config, const Tunable& tunable) {
    Json json = to_json(config);
    write(json, tunable);
    return from_json(json);
}

TrialConfig with_tunable_alone(const TrialConfig& config, const Tunable& tunable) {
    Json json = to_json(config);
    write(json, tunable);
    keep_techniques(json, [&](const std::string& path) { return path == tunable.path; });
    return from_json(json);
}

TrialConfig without_techniques(const TrialConfig& config) {
    Json json = to_json(config);
    keep_techniques(json, [](const std::string&) { return false; });
    for (const char* batches : {"batch_ramp", "variable_batch"}) json.erase(batches);
    return from_json(json);
}

TrialConfig with_learning_rate(const TrialConfig& config, double rate) {
    Json json = to_json(config);
    json["train"]["learning_rate"] = rate;
    return from_json(json);
}

StartGrid::StartGrid(const Tunable& tunable)
    : first((tunable.least_min + tunable.step - 1) / tunable.step * tunable.step),
      step(tunable.step),
      last(tunable.max) {}

// The multiples below the end, and the end.
std::size_t StartGrid::size() const {
    return first >= last ? 1 : static_cast<std::size_t>((last - first + step - 1) / step + 1);
}

std::int64_t StartGrid::at(std::size_t index) const {
    return std::min(last, first + static_cast<std::int64_t>(index) * step);
}

}  // namespace deft::experiments
