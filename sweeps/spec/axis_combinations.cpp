#include "sweeps/spec/axis_combinations.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "experiments/choices.h"
#include "sweeps/spec/imported_recipe.h"
#include "sweeps/spec/sweep_keys.h"

namespace deft::sweeps {

namespace {

using Group = std::vector<const Axis*>;
using Combination = std::vector<AxisSetting>;

std::string first_key(const std::string& path) {
    return path.substr(0, path.find('.'));
}

bool is_on(const ConfigNode& table) {
    const ConfigNode* enabled = table.find("enabled");
    return enabled == nullptr || enabled->kind != ConfigNode::Kind::boolean || enabled->boolean;
}

// [data.labelled] applies only to stages that train on labels.
bool concerns_labels(const ConfigNode& trial) {
    const ConfigNode* data = trial.find("data");
    const ConfigNode* samples = data == nullptr ? nullptr : data->find("samples");
    return samples == nullptr ||
           value_named<experiments::SampleKind>(samples->text) == experiments::SampleKind::labelled;
}

// An axis of a grid alone, those that go together in one, in the order of their first ones.
std::vector<Group> groups_of(const Stage& stage) {
    std::vector<Group> groups;
    for (const Axis& axis : stage.axes) {
        const auto own = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
            return axis.together != 0 && group.front()->together == axis.together;
        });
        if (own == groups.end())
            groups.push_back({&axis});
        else
            own->push_back(&axis);
    }
    return groups;
}

bool is_switch(const Axis& axis) {
    return axis.path.ends_with(".enabled");
}

void lay(ConfigNode& tree, const Combination& settings) {
    for (const AxisSetting& setting : settings) set_at_path(tree, setting.axis->path, *setting.value);
}

// The values at place `i` that apply to this trial.
Combination meant_at(const Group& group, std::size_t i, ConfigNode tree) {
    Group switches;
    std::copy_if(group.begin(), group.end(), std::back_inserter(switches),
                 [](const Axis* axis) { return is_switch(*axis); });
    // A technique's switch decides whether the switches of its metrics have an effect.
    std::stable_sort(switches.begin(), switches.end(),
                     [](const Axis* a, const Axis* b) { return a->path.size() < b->path.size(); });
    for (const Axis* axis : switches)
        if (concerns(axis->path, tree)) lay(tree, {{axis, &axis->values[i]}});
    Combination meant;
    for (const Axis* axis : group)
        if (concerns(axis->path, tree)) meant.push_back({axis, &axis->values[i]});
    return meant;
}

std::string text_of(const Combination& settings) {
    Json text = Json::object();
    for (const AxisSetting& setting : settings) text[setting.axis->path] = to_json(*setting.value);
    return text.dump();
}

std::vector<Combination> places_of(const Group& group, const ConfigNode& tree) {
    std::vector<Combination> places;
    std::set<std::string> said;
    for (std::size_t i = 0; i < group.front()->values.size(); ++i) {
        Combination place = meant_at(group, i, tree);
        const bool is_new = said.insert(text_of(place)).second;
        if (is_new || place.size() == group.size()) places.push_back(std::move(place));
    }
    return places;
}

}  // namespace

bool concerns(const std::string& path, const ConfigNode& trial) {
    const std::string table = first_key(path);
    if (is_imported(trial)) return concerns_imported(path);
    if (path.starts_with("data.labelled.")) return concerns_labels(trial);
    if (!is_technique(table)) return true;
    const ConfigNode* technique = trial.find(table);
    if (technique == nullptr) return false;
    if (path == table + ".enabled") return true;
    // [curriculum.METRIC]: a setting has no effect where its metric is not used.
    const std::string rest = path.substr(std::min(path.size(), table.size() + 1));
    if (rest.find('.') == std::string::npos) return is_on(*technique);
    const ConfigNode* metric = technique->find(first_key(rest));
    return metric != nullptr && is_on(*technique) && (rest.ends_with(".enabled") || is_on(*metric));
}

std::vector<Combination> combinations(const Stage& stage, const ConfigNode& tree) {
    std::vector<Combination> all = {{}};
    for (const Group& group : groups_of(stage)) {
        std::vector<Combination> longer;
        for (const Combination& shorter : all) {
            ConfigNode trial = tree;
            lay(trial, shorter);
            for (const Combination& place : places_of(group, trial)) {
                longer.push_back(shorter);
                longer.back().insert(longer.back().end(), place.begin(), place.end());
            }
        }
        all = std::move(longer);
    }
    return all;
}

double most_combinations(const Stage& stage, const ConfigNode& tree) {
    double most = 1;
    for (const Group& group : groups_of(stage)) {
        const bool may_have_effect = std::any_of(group.begin(), group.end(), [&](const Axis* axis) {
            return !is_technique(first_key(axis->path)) || tree.find(first_key(axis->path)) != nullptr;
        });
        if (may_have_effect) most *= static_cast<double>(group.front()->values.size());
    }
    return most;
}

}  // namespace deft::sweeps
