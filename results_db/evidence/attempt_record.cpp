#include "results_db/evidence/attempt_record.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/json.h"
#include "base/sha256.h"
#include "results_db/evidence/columns.h"
#include "results_db/evidence/score_records.h"
#include "results_db/host_key.h"

namespace deft::results_db {

namespace {

constexpr std::array kAttempt = {
    Column{"uid", Holds::name},
    Column{"number", Holds::count},
    Column{"kind", Holds::name},
    Column{"state", Holds::name},
    Column{"fail_class", Holds::name, true},
    Column{"created_ms", Holds::integer},
    Column{"started_ms", Holds::integer, true},
    Column{"ended_ms", Holds::integer},
    Column{"exit_code", Holds::integer, true},
    Column{"term_signal", Holds::integer, true},
    Column{"error", Holds::text, true},
    Column{"resume_step", Holds::count, true},
    Column{"total_steps", Holds::count, true},
    Column{"parameters", Holds::count, true},
    Column{"threads", Holds::count, true},
    Column{"train_seconds", Holds::real, true},
    Column{"eval_seconds", Holds::real, true},
    Column{"cpu_seconds", Holds::real, true},
    Column{"peak_rss_bytes", Holds::count, true},
    Column{"own_seconds", Holds::real, true},
    Column{"epochs_json", Holds::json, true},
    Column{"active_parameters", Holds::count},
    Column{"held_seconds", Holds::real, true},
    Column{"waited_seconds", Holds::real, true},
};
constexpr std::array kSpent = {
    Column{"step", Holds::count},
    Column{"elapsed_seconds", Holds::real},
    Column{"train_seconds", Holds::real},
    Column{"eval_seconds", Holds::real},
    Column{"waited_seconds", Holds::real},
};
constexpr std::array kShape = {
    Column{"device", Holds::name}, Column{"devices", Holds::count},       Column{"trials_per_device", Holds::count},
    Column{"ranks", Holds::count}, Column{"libraries_json", Holds::json},
};
constexpr std::array kPrice = {
    Column{"sku", Holds::text},
    Column{"usd_per_hour", Holds::real},
    Column{"price_source", Holds::text},
    Column{"price_date_ms", Holds::integer},
};
constexpr std::array kCode = {
    Column{"git_sha", Holds::text},         Column{"git_branch", Holds::text, true},
    Column{"dirty", Holds::count},          Column{"diff_sha256", Holds::text, true},
    Column{"binary_sha256", Holds::text},   Column{"compiler", Holds::text, true},
    Column{"cxx_flags", Holds::text, true}, Column{"build_type", Holds::text, true},
};
constexpr std::array kHost = {
    Column{"arch", Holds::text, true},
    Column{"cpu_model", Holds::text, true},
    Column{"cores", Holds::count},
    Column{"threads", Holds::count},
    Column{"extra_json", Holds::json},
    // As the attempt itself found it; the database's row of a host shows the last seen.
    Column{"hostname", Holds::text, true},
    Column{"kernel", Holds::text, true},
    Column{"os", Holds::text, true},
    Column{"mem_bytes", Holds::count},
};
constexpr std::array kDataset = {
    Column{"sha256", Holds::text, true},
    Column{"name", Holds::text, true},
    Column{"n_bytes", Holds::count, true},
    Column{"n_tokens", Holds::count, true},
};

std::string text_or_empty(const Json& object, const char* key) {
    return object.contains(key) ? text_at(object, key) : std::string();
}

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
    lay_machine_over(of_attempt, machine_json);
    host["hostname"] = of_attempt.hostname;
    host["kernel"] = of_attempt.kernel;
    host["os"] = of_attempt.os;
    host["mem_bytes"] = of_attempt.mem_bytes;
}

Json setup_of(Connection& connection, std::int64_t attempt_id) {
    const std::string columns = column_names(kShape, "a") + ", " + column_names(kCode, "c") + ", " +
                                column_names(kHost, "h") + ", " + column_names(kDataset, "d");
    Statement row(connection, ("SELECT " + columns +
                               ", a.machine_json, a.dataset_id FROM attempt a JOIN code c ON c.id = a.code_id"
                               " JOIN host h ON h.id = a.host_id LEFT JOIN dataset d ON d.id = a.dataset_id"
                               " WHERE a.id = ?1")
                                  .c_str());
    if (!row.bind(attempt_id).step()) connection.fail("read");
    int first = 0;
    Json setup = object_of(row, first, kShape);
    setup["code"] = object_of(row, first += kShape.size(), kCode);
    setup["host"] = object_of(row, first += kCode.size(), kHost);
    first += kHost.size();
    const int behind = first + static_cast<int>(kDataset.size());
    lay_over(setup["host"], row.text(behind));
    if (!row.is_null(behind + 1)) setup["dataset"] = object_of(row, first, kDataset);
    return setup;
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
    std::string parameters = "?1";
    for (std::size_t i = 0; i < columns.size(); ++i) parameters += fmt::format(", ?{}", i + 2);
    Statement insert(connection,
                     fmt::format("INSERT INTO {} (fingerprint, {}) VALUES ({}) ON CONFLICT (fingerprint) DO NOTHING",
                                 table, column_names(columns, ""), parameters)
                         .c_str());
    insert.bind(fingerprint);
    bind_columns(insert, 2, object, columns, IfAbsent::empty_text);
    insert.run();
    Statement query(connection, fmt::format("SELECT id FROM {} WHERE fingerprint = ?1", table).c_str());
    return id_of(connection, query.bind(fingerprint));
}

std::int64_t store_code(Connection& connection, const Json& code) {
    require_columns(code, kCode);
    const std::string fingerprint = sha256(text_at(code, "git_sha") + '|' + text_or_empty(code, "diff_sha256") + '|' +
                                           text_at(code, "binary_sha256"));
    return store_once(connection, "code", fingerprint, code, kCode);
}

// A row that is there already shows what this machine saw last, and stays.
std::int64_t store_host(Connection& connection, const Json& host) {
    require_columns(host, kHost);
    const std::string fingerprint = host_fingerprint(host_of(host));
    return store_once(connection, "host", fingerprint, host, kHost);
}

std::optional<std::int64_t> store_dataset(Connection& connection, const Json& setup) {
    if (!setup.contains("dataset")) return std::nullopt;
    const Json& dataset = setup.at("dataset");
    require_columns(dataset, kDataset);
    const std::string hash = text_or_empty(dataset, "sha256"), name = text_or_empty(dataset, "name");
    Statement insert(connection,
                     "INSERT INTO dataset (sha256, name, n_bytes, n_tokens) VALUES (?1, ?2, ?3, ?4)"
                     " ON CONFLICT (sha256, name) DO NOTHING");
    insert.bind(hash, name);
    bind_columns(insert, 3, dataset, std::span(kDataset).subspan(2));
    insert.run();
    Statement query(connection, "SELECT id FROM dataset WHERE sha256 = ?1 AND name = ?2");
    return id_of(connection, query.bind(hash, name));
}

// Of an attempt that ended well nothing can be lost, and nobody asks.
Json spent_records(Connection& connection, std::int64_t attempt_id) {
    Statement query(connection, ("SELECT " + column_names(kSpent, "s") +
                                 " FROM spent s JOIN attempt a ON a.id = s.attempt_id"
                                 " WHERE s.attempt_id = ?1 AND a.state <> 'ok' ORDER BY s.step")
                                    .c_str());
    query.bind(attempt_id);
    Json records = Json::array();
    while (query.step()) records.push_back(object_of(query, 0, kSpent));
    return records;
}

void store_spent(Connection& connection, std::int64_t attempt_id, const Json& record) {
    if (!record.contains("spent")) return;
    if (!record.at("spent").is_array()) throw BadRecord{"its 'spent' is no array"};
    Statement insert(connection, fmt::format("INSERT INTO spent (attempt_id, {}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                                             column_names(kSpent, ""))
                                     .c_str());
    for (const Json& one : record.at("spent")) {
        require_columns(one, kSpent);
        insert.bind(attempt_id);
        bind_columns(insert, 2, one, kSpent);
        insert.run();
    }
}

std::string slots_json(const Json& record) {
    if (!record.contains("gpu_name")) return "{}";
    // Read before the list is begun: what throws within one is taken apart wrongly by GCC 12.
    const std::string& name = text_at(record, "gpu_name");
    return canonical_json({{"gpu_name", name}});
}

// Of attempts whose slot times are known, since those of before were exported without it.
std::string gpu_name_of(Connection& connection, std::int64_t attempt_id) {
    Statement query(connection,
                    "SELECT json_extract(slots_json, '$.gpu_name') FROM attempt WHERE id = ?1"
                    " AND held_seconds IS NOT NULL AND json_valid(slots_json)");
    return query.bind(attempt_id).step() ? query.text(0) : std::string();
}

}  // namespace

Json attempt_record(Connection& connection, std::int64_t attempt_id, SharedValues& shared) {
    const std::string columns = column_names(kAttempt, "a") + ", " + column_names(kPrice, "a");
    Statement row(connection, ("SELECT " + columns +
                               ", a.start_note, e.config_hash FROM attempt a"
                               " JOIN experiment e ON e.id = a.experiment_id WHERE a.id = ?1")
                                  .c_str());
    if (!row.bind(attempt_id).step()) connection.fail("read");
    Json record = object_of(row, 0, kAttempt);
    const int price = kAttempt.size(), behind = price + static_cast<int>(kPrice.size());
    if (!row.is_null(price + 1)) record["price"] = shared.add(object_of(row, price, kPrice));
    constexpr std::array kNote = {Column{"start_note", Holds::text, true}};
    record.update(object_of(row, behind, kNote));
    record["trial"] = row.text(behind + 1);
    record["setup"] = shared.add(setup_of(connection, attempt_id));
    if (const std::string name = gpu_name_of(connection, attempt_id); !name.empty()) record["gpu_name"] = name;
    const auto add = [&](const char* key, Json records) {
        if (!records.empty()) record[key] = std::move(records);
    };
    add("results", result_records(connection, attempt_id, shared));
    add("scored", scored_records(connection, attempt_id, shared));
    add("checkpoints", checkpoint_records(connection, attempt_id));
    add("spent", spent_records(connection, attempt_id));
    return record;
}

std::int64_t store_attempt(Connection& connection, std::int64_t experiment_id, const Json& record,
                           const SharedValues& shared) {
    require_columns(record, kAttempt,
                    {"price", "start_note", "trial", "setup", "results", "scored", "checkpoints", "spent", "gpu_name"});
    const Json& setup = shared.at(record.value("setup", Json()));
    require_columns(setup, kShape, {"code", "host", "dataset"});
    const std::int64_t code = store_code(connection, setup.value("code", Json()));
    const std::int64_t host = store_host(connection, setup.value("host", Json()));
    constexpr int kBound = 7;
    std::string values;
    for (std::size_t i = 0; i < kAttempt.size() + kShape.size(); ++i) values += fmt::format(", ?{}", kBound + 1 + i);
    Statement insert(connection, fmt::format("INSERT INTO attempt (experiment_id, code_id, host_id, dataset_id,"
                                             " machine_json, start_note, slots_json, workdir, worker, argv_json, {})"
                                             " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, '', '', '[]'{})",
                                             column_names(kAttempt, "") + ", " + column_names(kShape, ""), values)
                                     .c_str());
    insert.bind(experiment_id, code, host, store_dataset(connection, setup), machine_json(host_of(setup.at("host"))),
                text_or_empty(record, "start_note"), slots_json(record));
    bind_columns(insert, kBound + 1, record, kAttempt);
    bind_columns(insert, kBound + 1 + static_cast<int>(kAttempt.size()), setup, kShape);
    insert.run();
    const std::int64_t id = connection.last_id();
    if (record.contains("price")) store_price(connection, id, record, shared);
    store_spent(connection, id, record);
    store_results(connection, id, code, record, shared);
    return id;
}

std::string differing_key(const Json& known, const Json& record) {
    for (const Json* one : {&known, &record})
        for (const auto& [key, value] : one->items()) {
            const bool is_in_both = known.contains(key) && record.contains(key);
            if (!is_in_both && key == "price") continue;
            if (!is_in_both || known.at(key) != record.at(key)) return key;
        }
    return {};
}

void store_price(Connection& connection, std::int64_t attempt_id, const Json& record, const SharedValues& shared) {
    const Json& price = shared.at(record.at("price"));
    require_columns(price, kPrice);
    Statement update(
        connection,
        "UPDATE attempt SET sku = ?2, usd_per_hour = ?3, price_source = ?4, price_date_ms = ?5 WHERE id = ?1");
    update.bind(attempt_id);
    bind_columns(update, 2, price, kPrice);
    update.run();
}

}  // namespace deft::results_db
