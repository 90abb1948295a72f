#pragma once
// Statistics of expert layers, as rows: one per layer and logged step. A hundred experts are one blob: a row each would
// make the database many times larger. A share in 32 bits has seven digits; NaN and infinity stay what they are.

#include <cstdint>
#include <string>
#include <vector>

#include "base/journal.h"
#include "results_db/connection.h"

namespace deft::results_db {

// The statement that inserts a row or replaces it, and what binds it.
std::string expert_load_insert();
void bind_expert_load(Statement& insert, std::int64_t attempt_id, const journal::ExpertLoad& load);

// Rows of a trial, through all attempts of its result: by step and layer. Errors: database, for a truncated
// blob.
std::vector<journal::ExpertLoad> read_expert_loads(Connection& connection, const std::string& config_hash);

// Rows of one attempt at one step, by layer. Errors: as above.
std::vector<journal::ExpertLoad> read_expert_loads_at(Connection& connection, std::int64_t attempt_id,
                                                      std::int64_t step);

}  // namespace deft::results_db
