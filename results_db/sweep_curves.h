#pragma once
// The curves of all trials of a sweep.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "results_db/connection.h"
#include "results_db/rows.h"

namespace deft::results_db {

// Keys are configuration hashes; trials without a curve are absent. Empty where the sweep does not exist.
// `with_points`: the trials whose training points are read; null: all.
std::map<std::string, TrialCurve> curves_of_sweep(Connection& connection, std::int64_t sweep_id,
                                                  const std::set<std::string>* with_points);

}  // namespace deft::results_db
