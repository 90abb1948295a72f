#pragma once
// [search]: the same search of the learning rate for every row of a table, before the table is trained.

#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

inline constexpr const char* kLearningRate = "train.learning_rate";

// Reads the sweep after its stages and seeds. Nothing where it is switched off. Errors: config, for
// fewer than two rates, rates that do not ascend, and a stage that has rates of its own or starts from another.
std::optional<RateSearch> read_search(const ConfigNode& node, const Spec& spec);

// Errors: config, where the table has a seed of the search's, or --set the rate that is searched.
void require_searchable(const Spec& spec);

// How found_rates calls a row: the recipe, and its axes in the stage that is searched.
std::string row_name(const std::string& recipe, const Json& axes);

// The sweep whose trials are those of the search: its seeds, the rates as an axis, and no task but the validation.
Spec as_search(const Spec& spec);

// The search by itself, which has a hash of its own: what the table's is depends on the rates.
Spec while_searching(const Spec& spec);

// The sweep with the rates that its search found, which decide its hash.
Spec with_rates(const Spec& spec, std::map<std::string, double> rates);

ConfigNode real_node(double value, const Place& place);

}  // namespace deft::sweeps
