#include "results_db/verdict_rows.h"

#include "results_db/connection.h"
#include "results_db/valid_json.h"

namespace deft::results_db {

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
