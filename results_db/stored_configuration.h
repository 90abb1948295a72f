#pragma once
// The check of a stored configuration against the hashes of its row.

#include <cstdint>

#include "base/json_fwd.h"
#include "results_db/connection.h"

namespace deft::results_db {

// Returns the configuration. Rows that a program wrote before version 6 of the schema, and that its migration could not
// rehash, pass unchecked: their hashes cover what this program does not write. Errors: database, with the trial, the
// two hashes and the repair.
Json require_own_hashes(Connection& connection, std::int64_t trial_id);

}  // namespace deft::results_db
