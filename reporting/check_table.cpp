#include "reporting/check_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace deft::reporting {

namespace {

constexpr std::array kGravestFirst = {Outcome::broken,  Outcome::worse,  Outcome::unclear,
                                      Outcome::missing, Outcome::better, Outcome::same};

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
        if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name(outcome));
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
        table.rows.push_back({name(finding.outcome), finding.name, finding.where, finding.text});
    }
    if (report.findings.size() > table.rows.size())
        table.notes.push_back(
            fmt::format("{} more, none of them graver, are not shown.", report.findings.size() - table.rows.size()));
    return table;
}

}  // namespace deft::reporting
