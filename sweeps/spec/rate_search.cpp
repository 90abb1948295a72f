#include "sweeps/spec/rate_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/sha256.h"
#include "base/suggestion.h"
#include "base/table_reader.h"
#include "sweeps/spec/read_recipes.h"
#include "sweeps/spec/sweep_keys.h"

namespace deft::sweeps {

namespace {

using Kind = ConfigNode::Kind;

constexpr const char* kNothingTrained = "nothing was trained";

[[noreturn]] void refuse_search(const Place& place, const std::string& what, const std::string& fix) {
    throw Error(ErrorKind::config, place, what, fix, kNothingTrained);
}

const Stage& searched_stage(const Spec& spec, const std::string& name, const Place& place) {
    std::vector<std::string> known;
    for (const Stage& stage : spec.stages) {
        if (name.empty() || stage.name == name) return stage;
        known.push_back(stage.name);
    }
    refuse_search(place, fmt::format("search.stage: no stage is named {}", name),
                  spec.has_stages() ? suggestion(name, known) : "drop the key: the sweep has no stages");
}

std::vector<double> read_rates(const ConfigNode* node, const Place& place) {
    if (node == nullptr)
        refuse_search(place, "search.learning_rate is missing",
                      "write the rates to try, as in learning_rate = [1e-3, 2e-3, 4e-3]");
    if (node->kind != Kind::array)
        refuse_search(node->place, "search.learning_rate must be an array", "write [1e-3, 2e-3]");
    std::vector<double> rates;
    for (const ConfigNode& item : node->items) {
        if (item.kind != Kind::real && item.kind != Kind::integer)
            refuse_search(item.place, "search.learning_rate must contain numbers", "write [1e-3, 2e-3]");
        const double rate = item.kind == Kind::real ? item.real : static_cast<double>(item.integer);
        if (!std::isfinite(rate) || rate <= 0)
            refuse_search(item.place, "search.learning_rate: a rate must be above 0", "remove it");
        if (!rates.empty() && rate <= rates.back())
            refuse_search(
                item.place,
                fmt::format("search.learning_rate: {:g} follows {:g}, but rates must ascend", rate, rates.back()),
                "write each rate once, the smallest first");
        rates.push_back(rate);
    }
    if (rates.size() < 2)
        refuse_search(node->place, "search.learning_rate: a search needs at least two rates",
                      "list two or more, or set train.learning_rate and drop [search]");
    return rates;
}

}  // namespace

ConfigNode real_node(double value, const Place& place) {
    ConfigNode node;
    node.kind = Kind::real;
    node.real = value;
    node.place = place;
    return node;
}

std::optional<RateSearch> read_search(const ConfigNode& node, const Spec& spec) {
    TableReader reader(node, "search");
    const ConfigNode* rates = reader.optional_node("learning_rate");
    SearchTable table;
    read_table(reader, table);
    if (!table.enabled) return {};
    const Stage& stage = searched_stage(spec, table.stage, reader.place("stage"));
    if (!stage.from.empty())
        refuse_search(reader.place("stage"),
                      fmt::format("search.stage: stage {} starts from {}", stage.name, stage.from),
                      "name a stage without from; list the rates of a later stage in its axes");
    for (const Axis& axis : stage.axes)
        if (axis.path == kLearningRate)
            refuse_search(axis.place, "the axes and [search] both set the learning rate", "remove one of them");
    require_seeds(table.seeds, reader.place("seeds"));
    return RateSearch{stage.name, read_rates(rates, node.place), table.seeds, node.place};
}

void require_searchable(const Spec& spec) {
    if (!spec.search) return;
    for (const std::int64_t seed : spec.seeds)
        if (std::find(spec.search->seeds.begin(), spec.search->seeds.end(), seed) != spec.search->seeds.end())
            refuse_search(spec.search->place, fmt::format("seed {} is used by both [search] and the sweep", seed),
                          "give [search] other seeds: a rate looks too good on the seeds that chose it");
    for (const Override& change : spec.overrides)
        if (change.path == kLearningRate && (change.stage.empty() || change.stage == spec.search->stage))
            refuse_search(change.value.place, "--set train.learning_rate cannot be combined with [search]",
                          "drop --set, or the sweep's [search]");
}

std::string row_name(const std::string& recipe, const Json& axes) {
    return recipe + " " + canonical_json(axes);
}

Spec as_search(const Spec& spec) {
    Spec searching = spec;
    searching.seeds = spec.search->seeds;
    searching.found_rates.clear();
    for (Stage& stage : searching.stages) {
        if (stage.name != spec.search->stage) continue;
        Axis rates;
        rates.path = kLearningRate;
        rates.place = spec.search->place;
        for (const double rate : spec.search->learning_rates) rates.values.push_back(real_node(rate, rates.place));
        stage.axes.push_back(std::move(rates));
    }
    ConfigNode none;
    none.kind = Kind::array;
    none.place = spec.search->place;
    searching.overrides.push_back({"eval.tasks", std::move(none)});
    return searching;
}

Spec while_searching(const Spec& spec) {
    Spec searching = spec;
    searching.sha256 = sha256("searching " + spec.sha256);
    return searching;
}

Spec with_rates(const Spec& spec, std::map<std::string, double> rates) {
    Spec found = spec;
    found.sha256 = sha256(spec.sha256 + canonical_json(Json(rates)));
    found.found_rates = std::move(rates);
    return found;
}

}  // namespace deft::sweeps
