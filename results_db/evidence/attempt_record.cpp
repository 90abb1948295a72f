#include "results_db/evidence/attempt_record.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/json.h"
#include "results_db/evidence/columns.h"
#include "results_db/evidence/local_paths.h"
#include "results_db/evidence/possible_values.h"
#include "results_db/evidence/score_records.h"
#include "results_db/evidence/setup_record.h"
#include "results_db/tables.h"

namespace deft::results_db {

namespace {

// An attempt that ended well loses nothing.
Json spent_records(Connection& connection, std::int64_t attempt_id) {
    Statement query(connection, ("SELECT " + column_names(kSpentColumns, "s") +
                                 " FROM spent s JOIN attempt a ON a.id = s.attempt_id"
                                 " WHERE s.attempt_id = ?1 AND a.state <> 'ok' ORDER BY s.step")
                                    .c_str());
    query.bind(attempt_id);
    Json records = Json::array();
    while (query.step()) records.push_back(object_of(query, 0, kSpentColumns));
    return records;
}

void store_spent(Connection& connection, std::int64_t attempt_id, const Json& record) {
    if (!record.contains("spent")) return;
    if (!record.at("spent").is_array()) throw BadRecord{"its 'spent' is not an array"};
    Statement insert(connection, insert_into("spent", "attempt_id", kSpentColumns).c_str());
    std::set<std::int64_t> steps;
    for (const Json& one : record.at("spent")) {
        require_columns(one, kSpentColumns);
        if (!steps.insert(one.at("step").get<std::int64_t>()).second)
            throw BadRecord{fmt::format("its 'spent' has step {} twice", one.at("step").dump())};
        insert.bind(attempt_id);
        bind_columns(insert, 2, one, kSpentColumns);
        insert.run();
    }
}

std::string slots_json(const Json& record) {
    if (!record.contains("gpu_name")) return "{}";
    // Read before the list is begun: what throws within one is taken apart wrongly by GCC 12.
    const std::string& name = text_at(record, "gpu_name");
    return canonical_json({{"gpu_name", name}});
}

// Attempts whose worker times are known: older exports lack them.
std::string gpu_name_of(Connection& connection, std::int64_t attempt_id) {
    Statement query(connection,
                    "SELECT json_extract(slots_json, '$.gpu_name') FROM attempt WHERE id = ?1"
                    " AND held_seconds IS NOT NULL AND json_valid(slots_json)");
    return query.bind(attempt_id).step() ? query.text(0) : std::string();
}

// Errors: BadRecord.
void require_end(const Json& record) {
    if (record.at("state") != "ok") return;
    for (const char* key : {"fail_class", "term_signal"})
        if (record.contains(key)) throw BadRecord{fmt::format("its 'state' is ok, and it has a '{}'", key)};
    if (record.value("exit_code", Json(0)) != 0)
        throw BadRecord{fmt::format("its 'state' is ok, and its 'exit_code' is {}", record.at("exit_code").dump())};
}

constexpr std::size_t kMostShown = 200;  // of a value, in a message

// With the shared values themselves in the place of their ids, and without absolute paths: programs before this one
// left some in.
Json with_shared(const Json& value, const SharedValues& shared) {
    if (!value.is_structured()) return value;
    Json whole = value;
    for (Json& item : whole) item = with_shared(item, shared);
    if (whole.is_object() && whole.contains("of")) whole.at("of") = shared.at(value.at("of"));
    return whole;
}

Json whole_record(const Json& record, const SharedValues& shared) {
    Json whole = with_shared(record, shared);
    for (const char* key : {"setup", "price"})
        if (whole.contains(key)) whole.at(key) = shared.at(record.at(key));
    return without_absolute_paths(whole);
}

}  // namespace

Json attempt_record(Connection& connection, std::int64_t attempt_id, SharedValues& shared) {
    const std::string columns = column_names(kAttemptColumns, "a") + ", " + column_names(kPriceColumns, "a");
    Statement row(connection, ("SELECT " + columns +
                               ", e.config_hash FROM attempt a"
                               " JOIN experiment e ON e.id = a.experiment_id WHERE a.id = ?1")
                                  .c_str());
    if (!row.bind(attempt_id).step()) connection.fail("read");
    Json record = object_of(row, 0, kAttemptColumns);
    const int price = kAttemptColumns.size(), after = price + static_cast<int>(kPriceColumns.size());
    if (!row.is_null(price + 1)) record["price"] = shared.add(object_of(row, price, kPriceColumns));
    record["trial"] = row.text(after);
    record["setup"] = shared.add(setup_record(connection, attempt_id));
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

std::int64_t store_attempt(Connection& connection, std::int64_t trial_id, const Json& record,
                           const SharedValues& shared) {
    require_columns(record, kAttemptColumns,
                    {"price", "trial", "setup", "results", "scored", "checkpoints", "spent", "gpu_name"});
    require_end(record);
    require_possible_times(record);
    const Json& setup = shared.at(record.value("setup", Json()));
    const StoredSetup stored = store_setup(connection, setup);
    const std::string first =
        "experiment_id, code_id, host_id, dataset_id, machine_json, slots_json, workdir, worker, argv_json";
    constexpr int kBound = 9;
    Statement insert(connection, insert_into("attempt", first, joined({kAttemptColumns, kShapeColumns})).c_str());
    insert.bind(trial_id, stored.code_id, stored.host_id, stored.dataset_id, stored.machine_json, slots_json(record),
                "", "", "[]");
    bind_columns(insert, kBound + 1, record, kAttemptColumns);
    bind_columns(insert, kBound + 1 + static_cast<int>(kAttemptColumns.size()), setup, kShapeColumns);
    insert.run();
    const std::int64_t id = connection.last_id();
    if (record.contains("price")) store_price(connection, id, record, shared);
    store_spent(connection, id, record);
    store_results(connection, id, stored.code_id, record, shared);
    return id;
}

std::string Difference::words() const {
    const auto shown = [&](const Json& one) {
        if (!one.contains(key)) return std::string("nothing");
        const std::string text = one.at(key).dump();
        return text.size() > kMostShown ? std::string("other values") : text;
    };
    return fmt::format("'{}' is {} there and {} here", key, shown(known), shown(given));
}

std::optional<Difference> difference(Connection& connection, std::int64_t attempt_id, const Json& record,
                                     const SharedValues& shared) {
    SharedValues own;
    Difference found;
    found.known = whole_record(attempt_record(connection, attempt_id, own), own);
    found.given = whole_record(record, shared);
    Json known = found.known, given = found.given;
    if (known.contains("setup") && given.contains("setup"))
        drop_what_may_differ(connection, attempt_id, known.at("setup"), given.at("setup"));
    for (const Json* one : {&known, &given})
        for (const auto& [key, value] : one->items()) {
            const bool is_in_both = known.contains(key) && given.contains(key);
            if (!is_in_both && key == "price") continue;
            if (is_in_both && known.at(key) == given.at(key)) continue;
            found.key = key;
            return found;
        }
    return std::nullopt;
}

bool has_price(Connection& connection, std::int64_t attempt_id) {
    Statement query(connection, "SELECT 1 FROM attempt WHERE id = ?1 AND usd_per_hour IS NOT NULL");
    return query.bind(attempt_id).step();
}

void store_price(Connection& connection, std::int64_t attempt_id, const Json& record, const SharedValues& shared) {
    const Json& price = shared.at(record.at("price"));
    require_columns(price, kPriceColumns);
    Statement update(connection,
                     fmt::format("UPDATE attempt SET {} WHERE id = ?1", assignments(2, kPriceColumns)).c_str());
    update.bind(attempt_id);
    bind_columns(update, 2, price, kPriceColumns);
    update.run();
}

}  // namespace deft::results_db
