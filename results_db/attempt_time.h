#pragma once
// Time of an attempt by activity, as the database has it.

#include <cstdint>

#include "results_db/connection.h"
#include "results_db/rows.h"

namespace deft::results_db {

// Fills the seconds of an attempt, whose state and counts are read already.
void add_time(Connection& connection, std::int64_t attempt_id, AttemptRow& attempt);

}  // namespace deft::results_db
