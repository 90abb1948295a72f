#pragma once
// A sweep and the verdicts on its claims, as records.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "results_db/connection.h"
#include "results_db/sweep_heads.h"

namespace deft::results_db {

Json sweep_record(Connection& connection, std::int64_t sweep_id);
// Errors: BadRecord.
void require_sweep(const Json& record);
// Adds it as the newest of its name. Its command is the record's, followed by `run_suffix`.
std::int64_t store_sweep(Connection& connection, const Json& record, const std::string& run_suffix);
// The first key in the spec's hash whose values differ between two records of one spec; empty: none. The
// file's text may differ in comments.
std::string differing_key(const Json& known, const Json& record);
// Replaces the first day and the criteria of that day, together, where the record is from an earlier
// day; one with claims goes before one without, which knows nothing of them. False where nothing is changed.
// Errors: BadRecord, for other claims of the same moment.
bool store_first_run(Connection& connection, std::int64_t sweep_id, const Json& record);
// Whether two records are of one sweep but for its seeds, as far as they say.
bool differ_in_seeds_alone(const Json& a, const Json& b);
// The command that runs all of these seeds.
void store_seeds(Connection& connection, std::int64_t sweep_id, const std::vector<std::int64_t>& seeds,
                 const std::string& run_suffix);

// Verdicts on the sweep's claims, in the order given; also those that came with seeds of another spec of it.
std::vector<Json> verdict_records(Connection& connection, const SweepHead& sweep);
// One on the sweep of that name. False where it is there already. Errors: BadRecord, also for another one of the same
// check on the same claim; database.
bool store_verdict(Connection& connection, const std::string& sweep, const Json& record);

}  // namespace deft::results_db
