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
// As the newest of its name. Its command is the record's, with `run_suffix` behind it.
std::int64_t store_sweep(Connection& connection, const Json& record, const std::string& run_suffix);
// Of two records of one spec the first key that the spec's hash decides and in which they differ; empty: none. The
// file's text may differ in comments.
std::string differing_key(const Json& known, const Json& record);
// Takes the record's first day and what the sweep was to be judged by then, together, where the record tells of an
// earlier day; one with claims goes before one without, which knows nothing of them. False where nothing is changed.
// Errors: BadRecord, for other claims of the same moment.
bool store_first_run(Connection& connection, std::int64_t sweep_id, const Json& record);
// Whether two records are of one sweep but for its seeds, as far as they say.
bool differ_in_seeds_alone(const Json& a, const Json& b);
// The command that runs all of these seeds.
void store_seeds(Connection& connection, std::int64_t sweep_id, const std::vector<std::int64_t>& seeds,
                 const std::string& run_suffix);

// Those on the sweep's claims, in the order given; also those that came with seeds of another spec of it.
std::vector<Json> verdict_records(Connection& connection, const SweepHead& sweep);
// One on the sweep of that name. False where it is there already. Errors: BadRecord, also for another one of the same
// check on the same claim; database.
bool store_verdict(Connection& connection, const std::string& sweep, const Json& record);

}  // namespace deft::results_db
