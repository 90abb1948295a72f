#pragma once
// What a report reads of a whole sweep at once, so that a thousand runs stay a few queries.

#include "results_db/connection.h"
#include "results_db/store.h"

namespace deft::results_db {

// Empty where there is no such sweep.
std::map<std::string, TrialCurve> curves_of_sweep(Connection& connection, std::int64_t sweep_id);
std::vector<Checkpoint> checkpoints_of_sweep(Connection& connection, std::int64_t sweep_id);

}  // namespace deft::results_db
