#include "results_db/gate_rows.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/suggestion.h"
#include "results_db/connection.h"
#include "results_db/valid_json.h"

namespace deft::results_db {

namespace {

void require_free(Connection& connection, const std::string& name) {
    Statement live(connection, "SELECT 1 FROM baseline WHERE name = ?1 AND retired_ms IS NULL");
    if (live.bind(name).step())
        throw Error(ErrorKind::usage, fmt::format("there is a live baseline {} already", name),
                    fmt::format("retire it first: deft baseline retire {}; or choose another name", name),
                    "the baseline");
}

std::vector<std::string> live_names(Connection& connection) {
    Statement query(connection, "SELECT DISTINCT name FROM baseline WHERE retired_ms IS NULL ORDER BY name");
    std::vector<std::string> names;
    while (query.step()) names.push_back(query.text(0));
    return names;
}

}  // namespace

void insert_baseline(Connection& connection, const std::vector<BaselineRow>& rows) {
    for (const BaselineRow& row : rows) {
        if (&row == &rows.front() || row.name != rows.front().name) require_free(connection, row.name);
        Statement(connection,
                  "INSERT INTO baseline (name, variant, variant_hash, measure_json, center, lo, hi, n, source_json,"
                  " pinned_by, reason, created_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")
            .bind(row.name, row.variant, row.variant_hash, valid_json(row.measure_json, "a baseline's measure"),
                  row.center, row.lowest, row.highest, row.seeds, valid_json(row.source_json, "a baseline's source"),
                  row.pinned_by, row.reason, row.created_ms)
            .run();
    }
}

std::int64_t retire_baseline(Connection& connection, const std::string& name, std::int64_t now_ms) {
    Statement(connection, "UPDATE baseline SET retired_ms = ?2 WHERE name = ?1 AND retired_ms IS NULL")
        .bind(name, now_ms)
        .run();
    const std::int64_t retired = connection.changes();
    if (retired > 0) return retired;
    const std::vector<std::string> names = live_names(connection);
    throw Error(names.empty() ? ErrorKind::missing : ErrorKind::usage,
                fmt::format("no live baseline is named {}", name),
                names.empty() ? "pin one: deft baseline pin NAME" : suggestion(name, names));
}

std::vector<BaselineRow> read_baselines(Connection& connection) {
    Statement query(connection,
                    "SELECT name, variant, variant_hash, measure_json, center, lo, hi, n, source_json, pinned_by,"
                    " reason, created_ms, retired_ms FROM baseline ORDER BY name, created_ms, id");
    std::vector<BaselineRow> rows;
    while (query.step())
        rows.push_back({query.text(0), query.text(1), query.text(2), query.text(3), query.real(4), query.real(5),
                        query.real(6), query.integer(7), query.text(8), query.text(9), query.text(10),
                        query.integer(11), query.maybe_integer(12)});
    return rows;
}

void insert_verdicts(Connection& connection, const std::vector<VerdictRow>& rows) {
    Statement insert(connection,
                     "INSERT INTO verdict (check_uid, created_ms, kind, subject_json, rule_json, effect, ci_lo, ci_hi,"
                     " applied_limit, p_raw, p_adj, result, words)"
                     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)");
    for (const VerdictRow& row : rows)
        insert
            .bind(row.check_uid, row.created_ms, row.kind, valid_json(row.subject_json, "a verdict's subject"),
                  valid_json(row.rule_json, "a verdict's rule"), row.effect, row.lower, row.upper, row.limit,
                  row.p_value, row.adjusted_p, row.result, row.text)
            .run();
}

std::vector<VerdictRow> read_verdicts(Connection& connection) {
    Statement query(connection,
                    "SELECT check_uid, created_ms, kind, subject_json, rule_json, effect, ci_lo, ci_hi, applied_limit,"
                    " p_raw, p_adj, result, words FROM verdict ORDER BY id");
    std::vector<VerdictRow> rows;
    while (query.step())
        rows.push_back({query.text(0), query.integer(1), query.text(2), query.text(3), query.text(4),
                        query.maybe_real(5), query.maybe_real(6), query.maybe_real(7), query.maybe_real(8),
                        query.maybe_real(9), query.maybe_real(10), query.text(11), query.text(12)});
    return rows;
}

}  // namespace deft::results_db
