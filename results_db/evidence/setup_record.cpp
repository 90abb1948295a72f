#include "results_db/evidence/setup_record.h"

#include <fmt/format.h>

#include <span>
#include <string>

#include "base/json.h"
#include "base/sha256.h"
#include "results_db/evidence/local_paths.h"
#include "results_db/evidence/possible_values.h"
#include "results_db/evidence/text_lines.h"
#include "results_db/host_key.h"
#include "results_db/tables.h"

namespace deft::results_db {

namespace {

Host host_of(const Json& host) {
    Host found;
    found.arch = text_or_empty(host, "arch");
    found.cpu_model = text_or_empty(host, "cpu_model");
    found.cores = host.at("cores").get<std::int64_t>();
    found.threads = host.at("threads").get<std::int64_t>();
    found.extra_json = host.at("extra_json").dump();
    found.hostname = text_or_empty(host, "hostname");
    found.kernel = text_or_empty(host, "kernel");
    found.os = text_or_empty(host, "os");
    found.mem_bytes = host.at("mem_bytes").get<std::int64_t>();
    return found;
}

void lay_over(Json& host, const std::string& machine_json) {
    Host of_attempt = host_of(host);
    override_machine(of_attempt, machine_json);
    host["hostname"] = of_attempt.hostname;
    host["kernel"] = of_attempt.kernel;
    host["os"] = of_attempt.os;
    host["mem_bytes"] = of_attempt.mem_bytes;
    host["extra_json"] = without_absolute_paths(parse_json(of_attempt.extra_json));
}

std::int64_t id_of(Connection& connection, Statement& query) {
    if (!query.step()) connection.fail("read back from");
    const std::int64_t id = query.integer(0);
    query.run();
    return id;
}

// The row of `table` with that fingerprint, made of `object` where there is none.
std::int64_t store_once(Connection& connection, const char* table, const std::string& fingerprint, const Json& object,
                        std::span<const Column> columns) {
    Statement insert(connection,
                     (insert_into(table, "fingerprint", columns) + " ON CONFLICT (fingerprint) DO NOTHING").c_str());
    insert.bind(fingerprint);
    bind_columns(insert, 2, object, columns);
    insert.run();
    Statement query(connection, fmt::format("SELECT id FROM {} WHERE fingerprint = ?1", table).c_str());
    return id_of(connection, query.bind(fingerprint));
}

bool is_row(Connection& connection, std::int64_t code_id, const Json& code) {
    Statement query(connection, ("SELECT " + column_names(kCodeColumns, "c") + " FROM code c WHERE c.id = ?1").c_str());
    return query.bind(code_id).step() && object_of(query, 0, kCodeColumns) == without_absolute_paths(code);
}

// One commit and program is one row. Different metadata, as of another branch, makes a row of its own, so that each
// attempt keeps its own metadata.
std::int64_t store_code(Connection& connection, const Json& code) {
    require_columns(code, kCodeColumns);
    const std::string fingerprint = sha256(text_at(code, "git_sha") + '|' + text_or_empty(code, "diff_sha256") + '|' +
                                           text_at(code, "binary_sha256"));
    const std::int64_t id = store_once(connection, "code", fingerprint, code, kCodeColumns);
    if (is_row(connection, id, code)) return id;
    return store_once(connection, "code", sha256(fingerprint + '|' + code.dump()), code, kCodeColumns);
}

// A row that is there already shows what this machine saw last, and stays: the attempt keeps its own.
std::int64_t store_host(Connection& connection, const Json& host) {
    require_columns(host, kHostColumns);
    const std::string fingerprint = host_fingerprint(host_of(host));
    return store_once(connection, "host", fingerprint, host, kHostColumns);
}

std::optional<std::int64_t> store_dataset(Connection& connection, const Json& setup) {
    if (!setup.contains("dataset")) return std::nullopt;
    const Json& dataset = setup.at("dataset");
    require_columns(dataset, kDatasetColumns);
    const std::string hash = text_or_empty(dataset, "sha256"), name = text_or_empty(dataset, "name");
    Statement insert(connection,
                     (insert_into("dataset", "", kDatasetColumns) + " ON CONFLICT (sha256, name) DO NOTHING").c_str());
    bind_columns(insert.bind(), 1, dataset, kDatasetColumns);
    insert.run();
    Statement query(connection, "SELECT id FROM dataset WHERE sha256 = ?1 AND name = ?2");
    return id_of(connection, query.bind(hash, name));
}

// The keys of a machine's extra_json that make it another host (results_db/host_key.h).
Json extra_of_fingerprint(const Json& extra) {
    Json kept = Json::object();
    for (const char* key : {"isa", "gpus", "name"})
        if (extra.is_object() && extra.contains(key)) kept[key] = extra.at(key);
    return kept;
}

bool keeps_extra(Connection& connection, std::int64_t attempt_id) {
    Statement query(connection,
                    "SELECT 1 FROM attempt WHERE id = ?1 AND json_type(machine_json, '$.extra') = 'object'");
    return query.bind(attempt_id).step();
}

// Older programs did not count the bytes.
bool knows_bytes(const Json& dataset) {
    return dataset.is_object() && dataset.value("n_bytes", Json(0)) != 0;
}

}  // namespace

Json setup_record(Connection& connection, std::int64_t attempt_id) {
    const std::string columns = column_names(kShapeColumns, "a") + ", " + column_names(kCodeColumns, "c") + ", " +
                                column_names(kHostColumns, "h") + ", " + column_names(kDatasetColumns, "d");
    Statement row(connection, ("SELECT " + columns +
                               ", a.machine_json, a.dataset_id FROM attempt a JOIN code c ON c.id = a.code_id"
                               " JOIN host h ON h.id = a.host_id LEFT JOIN dataset d ON d.id = a.dataset_id"
                               " WHERE a.id = ?1")
                                  .c_str());
    if (!row.bind(attempt_id).step()) connection.fail("read");
    int first = 0;
    Json setup = object_of(row, first, kShapeColumns);
    setup["code"] = object_of(row, first += kShapeColumns.size(), kCodeColumns);
    setup["host"] = object_of(row, first += kCodeColumns.size(), kHostColumns);
    first += kHostColumns.size();
    const int after = first + static_cast<int>(kDatasetColumns.size());
    lay_over(setup["host"], row.text(after));
    if (!row.is_null(after + 1)) setup["dataset"] = object_of(row, first, kDatasetColumns);
    return setup;
}

StoredSetup store_setup(Connection& connection, const Json& setup) {
    require_columns(setup, kShapeColumns, {"code", "host", "dataset"});
    require_possible_shape(setup);
    StoredSetup stored;
    stored.code_id = store_code(connection, setup.value("code", Json()));
    stored.host_id = store_host(connection, setup.value("host", Json()));
    stored.dataset_id = store_dataset(connection, setup);
    stored.machine_json = machine_json(host_of(setup.at("host")));
    return stored;
}

void drop_what_may_differ(Connection& connection, std::int64_t attempt_id, Json& known, Json& given) {
    const bool has_own_extra = keeps_extra(connection, attempt_id);
    const bool both_know_bytes =
        knows_bytes(known.value("dataset", Json())) && knows_bytes(given.value("dataset", Json()));
    for (Json* setup : {&known, &given}) {
        if (!setup->is_object()) continue;
        // A commit may be on several branches.
        if (setup->contains("code") && setup->at("code").is_object()) setup->at("code").erase("git_branch");
        // A merge by an older program kept it with the host alone, of which the row shows the first that came.
        if (!has_own_extra && setup->contains("host") && setup->at("host").is_object())
            setup->at("host")["extra_json"] = extra_of_fingerprint(setup->at("host").value("extra_json", Json()));
        if (!setup->contains("dataset") || !setup->at("dataset").is_object()) continue;
        // For images it depends on the model's patch size, and a row of a data set has that of the first model.
        setup->at("dataset").erase("n_tokens");
        if (!both_know_bytes) setup->at("dataset").erase("n_bytes");
    }
}

}  // namespace deft::results_db
