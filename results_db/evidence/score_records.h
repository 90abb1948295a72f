#pragma once
// Scores of an attempt and its checkpoints, as parts of its record. Documents' own results are left out.

#include <cstdint>

#include "base/json_fwd.h"
#include "results_db/connection.h"
#include "results_db/evidence/text_lines.h"

namespace deft::results_db {

// For each task in turn, the values of its measures: [value, standard error], where the latter may be null. Those
// of validations while it trained (base/score_key.h) are in its curve.
Json result_records(Connection& connection, std::int64_t attempt_id, SharedValues& shared);
// The tasks that were scored whole, by model.
Json scored_records(Connection& connection, std::int64_t attempt_id, SharedValues& shared);
Json checkpoint_records(Connection& connection, std::int64_t attempt_id);

// Adds those of the three that a record has. Errors: BadRecord; database.
void store_results(Connection& connection, std::int64_t attempt_id, std::int64_t code_id, const Json& record,
                   const SharedValues& shared);

}  // namespace deft::results_db
