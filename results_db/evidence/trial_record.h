#pragma once
// One configuration with its seed, as a record. The seed is beside the configuration, which the seeds of a row
// share.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "results_db/connection.h"
#include "results_db/evidence/text_lines.h"

namespace deft::results_db {

// Trials of the sweep's places that are among these hashes, by configuration hash.
std::vector<Json> trial_records(Connection& connection, std::int64_t sweep_id, const std::set<std::string>& hashes,
                                SharedValues& shared);

std::optional<std::int64_t> trial_of_hash(Connection& connection, const std::string& config_hash);
// The record's configuration with its seed. Errors: BadRecord, also for one that does not have the record's hashes.
Json checked_config(const Json& record, const SharedValues& shared);
// Whether it is trained; a model that is not, for it is taken as it is, is the same with every seed.
bool is_trained(const Json& config);
std::int64_t store_trial(Connection& connection, const Json& record, const Json& config);

}  // namespace deft::results_db
