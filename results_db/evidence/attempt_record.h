#pragma once
// One ended attempt as a record: what it ran on, how it ended, what it scored, and the checkpoints that it left. Where
// its files were and which process it was is left out.

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "results_db/connection.h"
#include "results_db/evidence/text_lines.h"

namespace deft::results_db {

Json attempt_record(Connection& connection, std::int64_t attempt_id, SharedValues& shared);

// Stores it as an attempt of that trial, and returns its id. Errors: BadRecord; database.
std::int64_t store_attempt(Connection& connection, std::int64_t trial_id, const Json& record,
                           const SharedValues& shared);

// The first key in which the record of an attempt is another one than the database gives of it.
struct Difference {
    std::string key;
    Json known, given;  // the two records, with what they share

    // "'own_seconds' is 10.1 there and 9.5 here"
    std::string words() const;
};
// A price that only one of them has is not a difference: it is stated later. Errors: BadRecord.
std::optional<Difference> difference(Connection& connection, std::int64_t attempt_id, const Json& record,
                                     const SharedValues& shared);

bool has_price(Connection& connection, std::int64_t attempt_id);
// Gives the attempt the record's price.
void store_price(Connection& connection, std::int64_t attempt_id, const Json& record, const SharedValues& shared);

}  // namespace deft::results_db
