#include "results_db/stored_configuration.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "results_db/config_hashes.h"

namespace deft::results_db {

namespace {

[[noreturn]] void fail_changed(const Connection& connection, const std::string& trial, const std::string& what) {
    throw Error(
        ErrorKind::database, fmt::format("{}: the row of trial {} was changed: {}", connection.file(), trial, what),
        "restore a backup of the file; or move it away and run the sweep again, which takes in the run folders, "
        "and merge the evidence of other roots again",
        "the file");
}

}  // namespace

Json require_own_hashes(Connection& connection, std::int64_t trial_id) {
    Statement row(connection,
                  "SELECT config_hash, variant_hash, seed, config_json, label FROM experiment WHERE id = ?1");
    if (!row.bind(trial_id).step()) connection.fail("read");
    const ConfigHashes stored{row.text(0), row.text(1)};
    const std::int64_t seed = row.integer(2);
    Json config = try_parse_json(row.text(3));
    const std::string trial = row.text(4).empty()
                                  ? short_hash(stored.config)
                                  : fmt::format("{} ({}, seed {})", short_hash(stored.config), row.text(4), seed);
    if (!config.is_object()) fail_changed(connection, trial, "its configuration is not a JSON object");
    if (const Json own = config.value("seed", Json()); own != seed)
        fail_changed(connection, trial, fmt::format("its seed is {}, and its configuration has {}", seed, own.dump()));
    if (has_hashes(config, stored)) return config;
    const ConfigHashes own = hashes_of_config(config);
    const bool is_config = own.config != stored.config;
    fail_changed(connection, trial,
                 fmt::format("its {} hash is {}, and its configuration has {}", is_config ? "configuration" : "row",
                             is_config ? stored.config : stored.variant, is_config ? own.config : own.variant));
}

}  // namespace deft::results_db
