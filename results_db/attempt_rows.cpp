#include "results_db/attempt_rows.h"

#include <utility>

#include "results_db/attempt_time.h"
#include "results_db/host_key.h"
#include "results_db/tables.h"

namespace deft::results_db {

namespace {

const std::string kQuery = "SELECT " + column_names(kAttemptColumns, "a") + ", " + column_names(kShapeColumns, "a") +
                           ", " + column_names(kLocalColumns, "a") + ", " + column_names(kPriceColumns, "a") + ", " +
                           column_names(kCodeColumns, "c") + ", " + column_names(kHostColumns, "h") + ", " +
                           column_names(kDatasetColumns, "d") +
                           ", a.id, a.device_seconds, a.usd,"
                           // A join to the view would make the whole of it for each trial.
                           " (SELECT k.is_result OR k.last_step IS NULL OR k.last_step > k.after_step FROM v_kept k "
                           "WHERE k.attempt_id = a.id),"
                           " CASE json_valid(a.slots_json) WHEN 1 THEN json_extract(a.slots_json, '$.gpu_name') END"
                           " FROM attempt a LEFT JOIN code c ON c.id = a.code_id LEFT JOIN host h ON h.id = a.host_id"
                           " LEFT JOIN dataset d ON d.id = a.dataset_id"
                           " WHERE a.experiment_id = ?1 AND a.kind = ?2 ORDER BY a.number";

AttemptRow read_attempt(Connection& connection, const Statement& query, Work work) {
    AttemptRow row;
    row.work = work;
    int next = read_row(query, 0, kAttemptColumns, &row);
    next = read_row(query, next, kShapeColumns, &row);
    next = read_row(query, next, kLocalColumns, &row);
    Price price;
    const bool is_priced = !query.is_null(next + 1);
    next = read_row(query, next, kPriceColumns, &price);
    if (is_priced) row.price = std::move(price);
    next = read_row(query, next, kCodeColumns, &row.code);
    next = read_row(query, next, kHostColumns, &row.host);
    override_machine(row.host, row.machine_json);
    next = read_row(query, next, kDatasetColumns, &row.dataset);
    const std::int64_t id = query.integer(next++);
    row.device_seconds = query.maybe_real(next++);
    row.usd = query.maybe_real(next++);
    row.counts = query.integer(next++) != 0;
    row.gpu_name = query.text(next);
    add_time(connection, id, row);
    return row;
}

}  // namespace

std::vector<AttemptRow> read_attempts(Connection& connection, std::int64_t trial_id, Work work) {
    Statement query(connection, kQuery.c_str());
    query.bind(trial_id, work == Work::score ? "score" : "train");
    std::vector<AttemptRow> rows;
    while (query.step()) rows.push_back(read_attempt(connection, query, work));
    return rows;
}

}  // namespace deft::results_db
