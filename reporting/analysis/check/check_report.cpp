#include "reporting/analysis/check/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "reporting/ordered_json.h"

namespace deft::reporting {

int exit_code_of(const CheckReport& report, bool strict) {
    const auto any = [&](Outcome outcome) {
        return std::any_of(report.findings.begin(), report.findings.end(),
                           [&](const CheckFinding& finding) { return finding.outcome == outcome; });
    };
    if (any(Outcome::broken)) return kExitFailed;
    if (any(Outcome::worse) || any(Outcome::fails)) return kExitWorse;
    const bool measured = any(Outcome::better) || any(Outcome::same) || any(Outcome::holds) || any(Outcome::unclear);
    if (!measured) return kExitNothing;
    return strict && any(Outcome::unclear) ? kExitUnclear : kExitOk;
}

namespace {

constexpr std::array kGravestFirst = {Outcome::broken,  Outcome::worse,  Outcome::fails, Outcome::unclear,
                                      Outcome::missing, Outcome::better, Outcome::holds, Outcome::same};

std::size_t gravity(const CheckFinding& finding) {
    return static_cast<std::size_t>(std::find(kGravestFirst.begin(), kGravestFirst.end(), finding.outcome) -
                                    kGravestFirst.begin());
}

}  // namespace

std::string counts_text(const CheckReport& report) {
    std::string text;
    for (const Outcome outcome : kGravestFirst) {
        const auto count = std::count_if(report.findings.begin(), report.findings.end(),
                                         [&](const CheckFinding& finding) { return finding.outcome == outcome; });
        if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word(outcome));
    }
    return text.empty() ? "nothing was checked" : text;
}

std::vector<CheckFinding> by_gravity(const CheckReport& report) {
    std::vector<CheckFinding> findings = report.findings;
    std::stable_sort(findings.begin(), findings.end(),
                     [](const CheckFinding& a, const CheckFinding& b) { return gravity(a) < gravity(b); });
    return findings;
}

Table check_table(const CheckReport& report, std::size_t most_rows) {
    Table table;
    table.caption = fmt::format("{}: {}", report.caption, counts_text(report));
    table.columns = {{"verdict", Align::left}, {"what", Align::left}, {"where", Align::left}, {"finding", Align::left}};
    for (const CheckFinding& finding : by_gravity(report)) {
        if (table.rows.size() == most_rows) break;
        table.rows.push_back({word(finding.outcome), finding.name, finding.where, finding.text});
    }
    if (report.findings.size() > table.rows.size())
        table.notes.push_back(
            fmt::format("{} more, none of them graver, are not shown.", report.findings.size() - table.rows.size()));
    return table;
}

std::string render_json(const CheckReport& report, bool strict) {
    OrderedJson findings = OrderedJson::array();
    for (const CheckFinding& one : report.findings)
        findings.push_back({{"check", one.check},
                            {"name", one.name},
                            {"where", one.where},
                            {"outcome", name(one.outcome)},
                            {"text", one.text},
                            {"effect", json_number(one.effect)},
                            {"lower", json_number(one.lower)},
                            {"upper", json_number(one.upper)},
                            {"limit", json_number(one.limit)},
                            {"seconds", one.seconds > 0 ? json_number(one.seconds) : OrderedJson(nullptr)}});
    return json_text({{"schema", "deft-check/1"},
                      {"caption", report.caption},
                      {"exit_code", exit_code_of(report, strict)},
                      {"findings", std::move(findings)}});
}

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
