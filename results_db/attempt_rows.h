#pragma once
// The attempts at one trial, and what the result cost over them.

#include <vector>

#include "results_db/connection.h"
#include "results_db/store.h"

namespace deft::results_db {

// By number.
std::vector<AttemptRow> read_attempts(Connection& connection, std::int64_t experiment_id);

// Device-seconds and dollars over the attempts that count.
void add_up_cost(TrialRow& trial);

}  // namespace deft::results_db
