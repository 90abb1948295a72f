#pragma once
// How a trial is called wherever it is printed, and found again by what was printed.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "results_db/rows.h"

namespace deft::results_db {

// "cl/1", or "cl[budget_fraction=0.5]/1" where there are axes, "cl:finetune[task=sst2]/1.3" in a stage of a sweep.
// `seeds`: as seeds_text() of the chain.
std::string trial_name(const std::string& stage, const std::string& recipe, const Json& axes, const std::string& seeds);
// "1.3": the seed of the first trial of a chain, then of each that has one of its own.
std::string seeds_text(const std::vector<std::int64_t>& seeds);
// Axes that are not a JSON object count as none.
std::string trial_name(const TrialRow& trial);

// Whether it may be meant by a name that leaves out the seeds, the stage, the axes or some of them; an axis may be
// given by its whole path, a number in any spelling.
bool is_named(const TrialRow& trial, const std::string& selector);

}  // namespace deft::results_db
