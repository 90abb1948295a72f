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
// Where the record's sweep first ran earlier, that day and what it was to be judged by then.
void store_first_run(Connection& connection, std::int64_t sweep_id, const Json& record);
// Whether two records are of one sweep but for its seeds, as far as they say.
bool differ_in_seeds_alone(const Json& a, const Json& b);
// The command that runs all of these seeds.
void store_seeds(Connection& connection, std::int64_t sweep_id, const std::vector<std::int64_t>& seeds,
                 const std::string& run_suffix);

// Those on the sweep's claims, in the order given; also those that came with seeds of another spec of it.
std::vector<Json> verdict_records(Connection& connection, const SweepHead& sweep);
// False where it is there already. Errors: BadRecord; database.
bool store_verdict(Connection& connection, const Json& record);

}  // namespace deft::results_db
