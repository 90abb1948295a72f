#include "sweeps/spec/read_recipes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "base/suggestion.h"
#include "base/table_reader.h"
#include "sweeps/spec/read_axes.h"
#include "sweeps/spec/sweep_keys.h"

namespace deft::sweeps {

namespace {

using Kind = ConfigNode::Kind;

[[noreturn]] void refuse_place(const Place& place, const std::string& what, const std::string& fix = {}) {
    throw Error(ErrorKind::config, place, what, fix);
}

std::vector<std::string> stage_names(const std::vector<Stage>& stages) {
    std::vector<std::string> names;
    for (const Stage& stage : stages) names.push_back(stage.name);
    return names;
}

// `known`: the stages before this one. `later`: the names of those after it.
void require_earlier(const Stage& stage, const Place& place, const std::vector<Stage>& known,
                     const std::vector<std::string>& later) {
    const std::vector<std::string> names = stage_names(known);
    if (std::find(names.begin(), names.end(), stage.from) != names.end()) return;
    const std::string name = fmt::format("stage.{}.from", stage.name);
    if (stage.from == stage.name)
        refuse_place(place, name + " names the stage itself",
                     "name an earlier stage, or drop the key to start from random initialization");
    if (std::find(later.begin(), later.end(), stage.from) != later.end())
        refuse_place(place, fmt::format("{} = \"{}\" is a later stage", name, stage.from),
                     fmt::format("write [stage.{}] above [stage.{}]", stage.from, stage.name));
    refuse_place(place, fmt::format("{} = \"{}\" is not a stage of this sweep", name, stage.from),
                 suggestion(stage.from, names, "write its [stage.NAME] above this one"));
}

// A stage's name shares a namespace with tables of trials and keys of recipes.
void require_stage_name(const std::string& name, const Place& place) {
    require_name(name, place, "the stage's name");
    std::vector<std::string> taken = trial_keys();
    for (const char* key : {"name", "label", "enabled"}) taken.emplace_back(key);
    if (name == results_db::kSearchStage)
        refuse_place(place, "a stage cannot be named search: the trials of [search] use this name",
                     "give it another name");
    if (std::find(taken.begin(), taken.end(), name) != taken.end())
        refuse_place(place, fmt::format("a stage cannot be named {}: it is a key of recipes", name),
                     "give it another name");
}

Stage read_stage(const std::string& name, const ConfigNode& table, const std::vector<Stage>& known,
                 const std::vector<std::string>& later) {
    Stage stage;
    stage.name = name;
    stage.place = table.place;
    TableReader reader(table, "stage." + name);
    require_stage_name(name, table.place);
    stage.overlay = take_trial_tables(reader, table.place);
    const ConfigNode* axes = reader.optional_node("axes");
    read_table(reader, stage);
    if (axes != nullptr) stage.axes = read_stage_axes(*axes, reader.name("axes"));
    if (reader.optional_node("from") != nullptr) require_earlier(stage, reader.place("from"), known, later);
    if (reader.optional_node("seeds") == nullptr) return stage;
    require_seeds(stage.seeds, reader.place("seeds"));
    if (stage.from.empty())
        reader.refuse("seeds", "has no effect in a stage that starts from no earlier stage", "set the sweep's seeds");
    return stage;
}

// The tables of a recipe, by stage.
void read_overlays(TableReader& reader, const ConfigNode& item, const std::vector<Stage>& stages, Recipe& entry) {
    if (stages.front().name.empty()) {
        entry.overlays[""] = take_trial_tables(reader, item.place);
        return;
    }
    for (const Stage& stage : stages) {
        const ConfigNode* node = reader.optional_node(stage.name.c_str());
        if (node == nullptr) continue;
        TableReader tables(*node, "case." + stage.name);
        entry.overlays[stage.name] = take_trial_tables(tables, node->place);
        tables.finish();
    }
    for (const std::string& key : reader.keys())
        if (std::find(trial_keys().begin(), trial_keys().end(), key) != trial_keys().end())
            reader.refuse(key.c_str(), "belongs to no stage, but this sweep has stages",
                          fmt::format("name the stage, as in [case.{}.{}]", stages.front().name, key));
}

}  // namespace

void require_name(const std::string& name, const Place& place, const std::string& what) {
    const bool good = !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '+';
    });
    if (!good) refuse_place(place, fmt::format("{} '{}' must be made of letters, digits, _, - and +", what, name));
}

void require_seeds(const std::vector<std::int64_t>& seeds, const Place& place) {
    if (seeds.empty()) refuse_place(place, "seeds is empty", "give at least one, as in seeds = [1]");
    for (const std::int64_t seed : seeds)
        if (seed < 0) refuse_place(place, fmt::format("seed {} is negative", seed));
    if (std::set<std::int64_t>(seeds.begin(), seeds.end()).size() != seeds.size())
        refuse_place(place, "a seed is listed twice", "remove one of them: a repeated seed repeats its training");
}

ConfigNode take_trial_tables(TableReader& reader, const Place& place) {
    ConfigNode tree;
    tree.place = place;
    for (const std::string& key : trial_keys())
        if (const ConfigNode* node = reader.optional_node(key.c_str())) tree.set(key, *node);
    return tree;
}

std::vector<Stage> read_stages(const ConfigNode* stages, const ConfigNode* axes) {
    if (stages == nullptr) {
        Stage only;
        if (axes != nullptr) only.axes = read_axes(*axes);
        return {only};
    }
    if (stages->kind != Kind::table || stages->children.empty())
        refuse_place(stages->place, "stage must be a table of stages", "write [stage.NAME]");
    if (axes != nullptr)
        refuse_place(axes->place, "axes belongs to no stage, but this sweep has stages",
                     fmt::format("write [stage.{}.axes] for one of them", stages->children.front().first));
    std::vector<std::string> later;
    for (const auto& [name, table] : stages->children) later.push_back(name);
    std::vector<Stage> read;
    for (const auto& [name, table] : stages->children) {
        later.erase(later.begin());
        read.push_back(read_stage(name, table, read, later));
    }
    return read;
}

std::vector<Recipe> read_recipes(const ConfigNode& node, const std::vector<Stage>& stages) {
    if (node.kind != Kind::array || node.items.empty())
        refuse_place(node.place, "case must be an array of tables", "write [[case]]");
    std::vector<Recipe> recipes;
    for (const ConfigNode& item : node.items) {
        TableReader reader(item, "case");
        Recipe entry;
        entry.place = item.place;
        read_overlays(reader, item, stages, entry);
        read_table(reader, entry);
        require_name(entry.name, reader.place("name"), "the recipe's name");
        if (reader.optional_node("label") == nullptr) entry.label = entry.name;
        for (const Recipe& other : recipes)
            if (other.name == entry.name)
                refuse_place(reader.place("name"),
                             fmt::format("recipe {} is defined twice, first at {}", entry.name, other.place.text()),
                             "give each recipe a different name");
        recipes.push_back(std::move(entry));
    }
    std::erase_if(recipes, [](const Recipe& entry) { return !entry.enabled; });
    if (recipes.empty()) refuse_place(node.place, "no recipe of this sweep is enabled", "enable one of them");
    return recipes;
}

namespace {

// The text of exclude.KEY, which must be one of those.
std::string one_of(const ConfigNode& value, const std::string& key, const std::vector<std::string>& names) {
    if (value.kind != Kind::text) refuse_place(value.place, fmt::format("exclude.{} must be a {}'s name", key, key));
    if (std::find(names.begin(), names.end(), value.text) == names.end())
        refuse_place(value.place, fmt::format("no {} is named {}", key == "case" ? "recipe" : key, value.text),
                     suggestion(value.text, names));
    return value.text;
}

}  // namespace

std::vector<std::string> recipe_names(const std::vector<Recipe>& recipes) {
    std::vector<std::string> names;
    for (const Recipe& entry : recipes) names.push_back(entry.name);
    return names;
}

std::vector<Exclusion> read_exclusions(const ConfigNode& node, const Spec& spec) {
    if (node.kind != Kind::array) refuse_place(node.place, "exclude must be an array of tables", "write [[exclude]]");
    std::map<std::string, const Axis*> axes;
    for (const Stage& stage : spec.stages)
        for (const Axis& axis : stage.axes) axes[axis_name(stage, axis)] = &axis;
    std::vector<std::string> known = {"case", "stage"};
    for (const auto& [name, axis] : axes) known.push_back(name);
    std::vector<Exclusion> exclusions;
    for (const ConfigNode& item : node.items) {
        if (item.kind != Kind::table) refuse_place(item.place, "exclude must be a table");
        Exclusion exclusion;
        exclusion.place = item.place;
        std::vector<std::pair<std::string, const ConfigNode*>> conditions;
        flatten(item, "", conditions);
        if (conditions.empty())
            refuse_place(item.place, "this [[exclude]] would remove every trial",
                         "name a recipe, a stage or a value of an axis");
        for (const auto& [path, value] : conditions) {
            if (path == "case") {
                exclusion.recipe = one_of(*value, path, recipe_names(spec.recipes));
                continue;
            }
            if (path == "stage" && spec.has_stages()) {
                exclusion.stage = one_of(*value, path, stage_names(spec.stages));
                continue;
            }
            const auto axis = axes.find(path);
            if (axis == axes.end())
                refuse_place(value->place, fmt::format("no axis is named {}", path), suggestion(path, known));
            const std::vector<ConfigNode>& values = axis->second->values;
            if (std::none_of(values.begin(), values.end(),
                             [v = value](const ConfigNode& x) { return to_json(x) == to_json(*v); }))
                refuse_place(value->place, fmt::format("axis {} never has the value {}", path, to_json(*value).dump()));
            exclusion.values.emplace_back(path, *value);
        }
        exclusions.push_back(std::move(exclusion));
    }
    return exclusions;
}

void drop_disabled_stages(Spec& spec) {
    const std::vector<Stage> all = spec.stages;
    std::erase_if(spec.stages, [](const Stage& stage) { return !stage.enabled; });
    if (spec.stages.empty()) refuse_place(all.front().place, "no stage of this sweep is enabled", "enable one of them");
    const std::vector<std::string> left = stage_names(spec.stages);
    for (Stage& stage : spec.stages) {
        if (stage.from.empty() || std::find(left.begin(), left.end(), stage.from) != left.end()) continue;
        const bool has_start = stage.overlay.find("start") != nullptr;
        if (!has_start)
            refuse_place(stage.place,
                         fmt::format("stage {} starts from {}, which is not enabled", stage.name, stage.from),
                         fmt::format("enable that stage, or name a model in [stage.{}.start]", stage.name));
        stage.from.clear();
        stage.seeds.clear();
    }
}

}  // namespace deft::sweeps
