#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "reporting/analysis/quality/quality_check.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

std::string caption(const std::string& sweep, const std::string& baseline) {
    return fmt::format("Quality of sweep {} against baseline {}", sweep, baseline);
}

std::string signed_score(double value) {
    return (value < 0 ? "-" : "+") + score(std::abs(value));
}

std::string seeds_text(const QualityFinding& one) {
    return fmt::format("{} | {}", one.base_seeds, one.head_seeds);
}

std::vector<Cell> row_of(const QualityFinding& one) {
    const CheckFinding& finding = one.judged.finding;
    if (!one.measure || !finding.effect)
        return {one.row,
                one.measure ? name(*one.measure) : "trials",
                one.measure ? seeds_text(one) : "-",
                "-",
                "-",
                "-",
                "-",
                "-",
                word(finding.outcome)};
    Cell interval = "-";
    if (finding.lower) interval = fmt::format("[{}, {}]", signed_score(*finding.lower), signed_score(*finding.upper));
    return {one.row,
            name(*one.measure) + (one.measure->improves() == Improves::downwards ? " ↓" : " ↑"),
            seeds_text(one),
            Cell(score(one.base), one.base),
            Cell(score(one.head), one.head),
            Cell(signed_score(*finding.effect), *finding.effect),
            interval,
            Cell(score(*finding.limit), *finding.limit),
            word(finding.outcome)};
}

}  // namespace

CheckReport quality_report(std::span<const QualityFinding> findings, const std::string& sweep,
                           const std::string& baseline) {
    CheckReport report{caption(sweep, baseline), {}};
    for (const QualityFinding& one : findings) report.findings.push_back(one.judged.finding);
    return report;
}

Table quality_table(std::span<const QualityFinding> findings, const std::string& sweep, const std::string& baseline,
                    const QualityRule& rule) {
    Table table;
    table.caption = caption(sweep, baseline);
    table.columns = {{"row", Align::left},
                     {"measure", Align::left},
                     {"seeds"},
                     {"baseline"},
                     {"now"},
                     {"difference"},
                     {"interval"},
                     {"limit"},
                     {"verdict", Align::left}};
    table.key_columns = 2;
    std::map<Outcome, std::size_t> counts;
    for (const QualityFinding& one : findings) {
        table.rows.push_back(row_of(one));
        ++counts[one.judged.finding.outcome];
    }
    std::vector<std::string> parts;
    for (const auto& [outcome, count] : counts) parts.push_back(fmt::format("{} {}", count, word(outcome)));
    table.notes.push_back(fmt::format("{}. Seeds: baseline | now.", fmt::join(parts, ", ")));
    for (const QualityFinding& one : findings)
        if (one.judged.finding.outcome != Outcome::same)
            table.notes.push_back(fmt::format("{}: {}.", one.judged.finding.name, one.judged.finding.text));
    table.notes.push_back(
        fmt::format("Limits: {:.3g}% of the baseline for losses, {:.3g} for scores; intervals of {:.0f}% over seeds; "
                    "of what is called better "
                    "or worse at most {:.0f}% by chance. Curves: mean loss over the last half of the tokens that all "
                    "seeds consumed.",
                    100 * rule.loss_margin, rule.score_margin, 100 * rule.confidence, 100 * rule.false_discovery_rate));
    return table;
}

}  // namespace deft::reporting
