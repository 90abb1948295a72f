#pragma once
// The parts of a sweep file that say which trials there are: stages, axes, recipes, excludes, seeds.

#include <string>
#include <vector>

#include "base/config.h"
#include "base/table_reader.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

// All of these refuse what the file has wrong, with its place. Errors: config.

// [stage.NAME] tables in their order, and [axes], which is of a file without stages; either may be null.
std::vector<Stage> read_stages(const ConfigNode* stages, const ConfigNode* axes);

// [[case]] tables.
std::vector<Recipe> read_recipes(const ConfigNode& node, const std::vector<Stage>& stages);

// [[exclude]] tables of a sweep whose stages and recipes are read.
std::vector<Exclusion> read_exclusions(const ConfigNode& node, const Spec& spec);

// Leaves out the stages that are not enabled, of a sweep whose recipes and excludes are read: these may name any. What
// started from one of them starts from the model that its own [start] names.
void drop_disabled_stages(Spec& spec);

void require_seeds(const std::vector<std::int64_t>& seeds, const Place& place);
void require_name(const std::string& name, const Place& place, const std::string& what);

std::vector<std::string> recipe_names(const std::vector<Recipe>& recipes);

// Takes the tables of trials out of `reader`'s table into a tree of their own.
ConfigNode take_trial_tables(TableReader& reader, const Place& place);

}  // namespace deft::sweeps
