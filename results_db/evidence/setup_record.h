#pragma once
// The setup of an attempt, as a part of its record that many attempts share: the worker's shape, the program, machine
// and the data.

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "results_db/connection.h"
#include "results_db/evidence/columns.h"

namespace deft::results_db {

Json setup_record(Connection& connection, std::int64_t attempt_id);

// Rows that an attempt refers to, and what it keeps of its machine itself.
struct StoredSetup {
    std::int64_t code_id = 0, host_id = 0;
    std::optional<std::int64_t> dataset_id;
    std::string machine_json;
};
// Errors: BadRecord; database.
StoredSetup store_setup(Connection& connection, const Json& setup);

// Takes out of two setups of one attempt what decides no result and may differ. `known` is of this attempt here.
void drop_what_may_differ(Connection& connection, std::int64_t attempt_id, Json& known, Json& given);

}  // namespace deft::results_db
