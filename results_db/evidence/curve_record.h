#pragma once
// Measurements of an attempt while it trained, as one record: logged steps, drawn samples, expert statistics, and
// validations on the way; a list a column.

#include <cstddef>
#include <cstdint>

#include "base/json_fwd.h"
#include "results_db/connection.h"

namespace deft::results_db {

// At most that many steps of each, and of experts a quarter; 0: all. Null where there is nothing. The last step that
// the result of its trial was built on is kept; of an attempt that it was not built on there are two.
Json curve_record(Connection& connection, std::int64_t attempt_id, std::size_t most_points);

// Bytes of the texts that it stores once for many rows, multiplied by the number of rows.
std::size_t repeated_bytes(const Json& record);

// Adds the curve to an attempt that has none yet. Errors: BadRecord; database.
void store_curve(Connection& connection, std::int64_t attempt_id, std::int64_t code_id, const Json& record);

// Errors: BadRecord, where the attempt has one of the record's steps with other numbers. Steps that it lacks are passed
// over: each may be thinned in its own way.
void require_same_curve(Connection& connection, std::int64_t attempt_id, const Json& record);

// Gives an attempt the record's steps that it lacks, which must lie between its first and its last, since every thinned
// curve has those. Returns how many rows those are. Errors: BadRecord; database.
std::int64_t add_missing_points(Connection& connection, std::int64_t attempt_id, std::int64_t code_id,
                                const Json& record);

}  // namespace deft::results_db
