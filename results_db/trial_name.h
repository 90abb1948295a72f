#pragma once
// How a trial is called wherever it is printed, and found again by what was printed.

#include <cstdint>
#include <string>

#include "base/json_fwd.h"
#include "results_db/store.h"

namespace deft::results_db {

// "cl/1", or "cl[budget_fraction=0.5]/1" where there are axes.
std::string trial_name(const std::string& case_key, const Json& axes, std::int64_t seed);
// Axes that are no JSON object count as none.
std::string trial_name(const TrialRow& trial);

// Whether it may be meant by a name that leaves out the seed, the axes or some of them; an axis may be given by its
// whole path, a number in any spelling.
bool is_named(const TrialRow& trial, const std::string& selector);

}  // namespace deft::results_db
