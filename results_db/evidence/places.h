#pragma once
// The places of a sweep as records: a trial's row, and its seeds. Rows are numbered in the order of
// the table, which a seed more does not change.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "results_db/connection.h"
#include "results_db/evidence/text_lines.h"

namespace deft::results_db {

// One place of a sweep in a database: its row and seeds, and the trial there.
struct KnownPlace {
    std::int64_t trial_id = 0;
    std::string config_hash, variant_hash;
    std::string axes_json;  // as stored
    Json row;               // [stage, recipe, axes]
    std::vector<std::int64_t> seeds;
};

// Ordered by row and seeds; several trials of one place are in ascending order of age, the newest last.
std::vector<KnownPlace> known_places(Connection& connection, std::int64_t sweep_id);

// In that order, those of the trials that are among these hashes; rows are numbered over all of the sweep.
std::vector<Json> place_records(Connection& connection, std::int64_t sweep_id, const std::set<std::string>& hashes,
                                SharedValues& shared);

// Parses a record's place. Errors: BadRecord.
KnownPlace place_in(const Json& record);
// Adds the place. Where it already has another trial, that one counts as the newer.
void store_place(Connection& connection, std::int64_t sweep_id, std::int64_t trial_id, const Json& record,
                 const SharedValues& shared);

// The configurations in the table by row, without their seeds.
std::map<Json, std::set<std::string>> shown_variants(Connection& connection, std::int64_t sweep_id);

// Renumbers the places: rows in that order, and the seeds of each row ascending.
void number_places(Connection& connection, std::int64_t sweep_id, const std::vector<Json>& rows);
// The rows of both in one order. A new row of `more` follows the row before it there; new rows before the first common
// row go before that row; without a common row, `more` goes to the end.
std::vector<Json> joined_rows(const std::vector<Json>& rows, const std::vector<Json>& more);
// Each row once, in the order of the places.
std::vector<Json> rows_in_order(const std::vector<KnownPlace>& places);

}  // namespace deft::results_db
