#include "reporting/check_verdicts.h"

namespace deft::reporting {

std::vector<results_db::VerdictRow> verdict_rows(std::span<const Judged> judged, const std::string& check_uid,
                                                 const std::string& rule_json, std::int64_t now_ms) {
    std::vector<results_db::VerdictRow> rows;
    for (const Judged& one : judged) {
        results_db::VerdictRow row;
        row.check_uid = check_uid;
        row.created_ms = now_ms;
        row.kind = one.finding.check;
        row.subject_json = one.subject_json;
        row.rule_json = rule_json;
        row.effect = one.finding.effect;
        row.lower = one.finding.lower;
        row.upper = one.finding.upper;
        row.limit = one.finding.limit;
        row.p_value = one.p_value;
        row.adjusted_p = one.adjusted_p;
        row.result = name(one.finding.outcome);
        row.text = one.finding.text;
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace deft::reporting
