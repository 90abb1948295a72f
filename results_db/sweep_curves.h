#pragma once
// The curves of all trials of a sweep.

#include <cstdint>
#include <map>
#include <string>

#include "results_db/connection.h"
#include "results_db/rows.h"

namespace deft::results_db {

// Keys are configuration hashes; trials without a curve are absent. Empty where the sweep does not exist.
std::map<std::string, TrialCurve> curves_of_sweep(Connection& connection, std::int64_t sweep_id);

}  // namespace deft::results_db
