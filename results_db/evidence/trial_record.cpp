#include "results_db/evidence/trial_record.h"

#include <algorithm>
#include <functional>

#include "base/json.h"
#include "results_db/config_hashes.h"
#include "results_db/evidence/columns.h"
#include "results_db/evidence/local_paths.h"
#include "results_db/stored_configuration.h"
#include "results_db/tables.h"

namespace deft::results_db {

namespace {

bool has_local_paths_alone(const Json& value) {
    if (value.is_string()) return stays_below(value.get<std::string>());
    return !value.is_structured() || std::all_of(value.begin(), value.end(), has_local_paths_alone);
}

}  // namespace

std::vector<Json> trial_records(Connection& connection, std::int64_t sweep_id, const std::set<std::string>& hashes,
                                SharedValues& shared) {
    Statement query(connection, ("SELECT " + column_names(kTrialColumns, "e") +
                                 ", e.config_json, e.id FROM experiment e WHERE e.id IN (SELECT m.experiment_id"
                                 " FROM sweep_member m WHERE m.sweep_id = ?1) ORDER BY e.config_hash")
                                    .c_str());
    query.bind(sweep_id);
    std::vector<Json> records;
    while (query.step()) {
        if (!hashes.contains(query.text(0))) continue;
        require_own_hashes(connection, query.integer(static_cast<int>(kTrialColumns.size()) + 1));
        Json record = object_of(query, 0, kTrialColumns);
        Json config = try_parse_json(query.text(static_cast<int>(kTrialColumns.size())));
        if (config.is_object()) {
            config.erase("seed");
            if (config.contains("local")) config["local"] = without_local_folders(config.at("local"));
        }
        record["config"] = shared.add(std::move(config));
        records.push_back(std::move(record));
    }
    return records;
}

std::optional<std::int64_t> trial_of_hash(Connection& connection, const std::string& config_hash) {
    Statement query(connection, "SELECT id FROM experiment WHERE config_hash = ?1");
    if (!query.bind(config_hash).step()) return std::nullopt;
    return query.integer(0);
}

Json checked_config(const Json& record, const SharedValues& shared) {
    require_columns(record, kTrialColumns, {"config"});
    Json config = shared.at(record.value("config", Json()));
    if (!config.is_object()) throw BadRecord{"its configuration is not an object"};
    config["seed"] = record.at("seed");
    if (!has_hashes(config, {text_at(record, "config_hash"), text_at(record, "variant_hash")}))
        throw BadRecord{"its configuration and seed do not have the hashes that it names"};
    if (config.contains("local") && !has_local_paths_alone(config.at("local")))
        throw BadRecord{"its configuration names files outside of its own folder"};
    return config;
}

bool is_trained(const Json& config) {
    const Json train = config.value("train", Json());
    return !train.is_object() || train.value("budget_tokens", Json()) != 0;
}

std::int64_t store_trial(Connection& connection, const Json& record, const Json& config) {
    Statement insert(connection, insert_into("experiment", "config_json", kTrialColumns).c_str());
    insert.bind(config.dump());
    bind_columns(insert, 2, record, kTrialColumns);
    insert.run();
    return connection.last_id();
}

}  // namespace deft::results_db
