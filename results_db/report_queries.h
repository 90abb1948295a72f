#pragma once
// What a report reads of a whole sweep at once, so that a thousand runs stay a few queries.

#include "results_db/connection.h"
#include "results_db/store.h"

namespace deft::results_db {

// Of the newest spec of that name; empty where there is none.
std::map<std::string, TrialCurve> curves_of_sweep(Connection& connection, const std::string& sweep);
std::vector<Checkpoint> checkpoints_of_sweep(Connection& connection, const std::string& sweep);

}  // namespace deft::results_db
