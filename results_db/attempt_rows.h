#pragma once
// The attempts at one trial, as readers get them.

#include <cstdint>
#include <vector>

#include "results_db/connection.h"
#include "results_db/rows.h"

namespace deft::results_db {

// Attempts by number.
std::vector<AttemptRow> read_attempts(Connection& connection, std::int64_t trial_id, Work work);

}  // namespace deft::results_db
