#pragma once
// One ended attempt as a record: what it ran on, how it ended, what it scored, and the checkpoints that it left. Where
// its files were and which process it was is left out.

#include <cstdint>

#include "base/json_fwd.h"
#include "results_db/connection.h"
#include "results_db/evidence/text_lines.h"

namespace deft::results_db {

Json attempt_record(Connection& connection, std::int64_t attempt_id, SharedValues& shared);

// Stores it as an attempt of that experiment, and returns its id. Errors: BadRecord; database.
std::int64_t store_attempt(Connection& connection, std::int64_t experiment_id, const Json& record,
                           const SharedValues& shared);

// Of two records of one attempt the first key in which they differ; empty: none. A price alone is no difference where
// one of them has none: it is stated later.
std::string differing_key(const Json& known, const Json& record);
// Gives the attempt the record's price.
void store_price(Connection& connection, std::int64_t attempt_id, const Json& record, const SharedValues& shared);

}  // namespace deft::results_db
