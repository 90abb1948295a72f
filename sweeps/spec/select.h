#pragma once
// Which trials of a sweep are meant by the names of --only: a recipe ("cl"), a row of its table
// ("cl at 50%", "cl[budget_fraction=0.5]", "cl:finetune") or a trial ("cl[budget_fraction=0.5]/1"), in the grammar of
// results_db/row_name.h.

#include <string>
#include <vector>

#include "sweeps/spec/expand.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

// All are where there are no names.
bool is_selected(const Trial& trial, const std::vector<std::string>& names);

// Per place: the selected trials, and for a row or a trial also what it starts from; a recipe has all of its own.
std::vector<char> selected_trials(const std::vector<Trial>& trials, const std::vector<std::string>& names);

// Refuses a name that means none of the trials, with the nearest of `trials`. Errors: usage.
void require_selected(const Spec& spec, const std::vector<Trial>& trials, const std::vector<std::string>& names);

// Refuses a name of a recipe that the sweep does not have, or of a row or a trial of such a recipe, with the nearest,
// before there are trials. Errors: usage.
void require_selectable(const Spec& spec, const std::vector<std::string>& names);

// "a,b[x=1,y=2]" is two names: a comma within brackets is part of one.
std::vector<std::string> split_names(const std::string& text);

}  // namespace deft::sweeps
