#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "reporting/numbers.h"
#include "reporting/trend/trend_check.h"

namespace deft::reporting {

namespace {

constexpr const char* kCaption = "Benchmark times over their history";

Cell time_cell(double seconds) {
    return seconds > 0 && std::isfinite(seconds) ? Cell(small_seconds(seconds), seconds) : Cell("-");
}

std::vector<Cell> row_of(const TrendFinding& one) {
    const CheckFinding& finding = one.judged.finding;
    return {
        finding.name,
        finding.where,
        fmt::format("{}", one.sessions),
        time_cell(one.level),
        time_cell(one.latest),
        finding.effect ? Cell(fmt::format("{:+.1f}%", 100 * (std::exp(*finding.effect) - 1)), *finding.effect) : "-",
        one.since.empty() ? "-" : one.since,
        name(finding.outcome)};
}

}  // namespace

CheckReport trend_report(std::span<const TrendFinding> findings) {
    CheckReport report{kCaption, {}};
    for (const TrendFinding& one : findings) report.findings.push_back(one.judged.finding);
    return report;
}

Table trend_table(std::span<const TrendFinding> findings, const TrendRule& rule, bool all) {
    Table table;
    table.caption = kCaption;
    table.columns = {{"case", Align::left},  {"where", Align::left},  {"sessions"}, {"level"}, {"latest"}, {"change"},
                     {"since", Align::left}, {"verdict", Align::left}};
    table.key_columns = 2;
    std::map<Outcome, std::size_t> counts;
    for (const TrendFinding& one : findings) {
        const Outcome outcome = one.judged.finding.outcome;
        ++counts[outcome];
        const bool quiet = outcome == Outcome::same || outcome == Outcome::missing;
        if (all || !quiet) table.rows.push_back(row_of(one));
        if (!quiet)
            table.notes.push_back(
                fmt::format("{}, {}: {}.", one.judged.finding.name, one.judged.finding.where, one.judged.finding.text));
    }
    std::vector<std::string> parts;
    for (const auto& [outcome, count] : counts) parts.push_back(fmt::format("{} {}", count, name(outcome)));
    if (findings.empty())
        table.notes.push_back("No benchmark session is stored here: deft bench run.");
    else
        table.notes.push_back(fmt::format("{} series: {}.", findings.size(), fmt::join(parts, ", ")));
    if (counts[Outcome::missing] > 0)
        table.notes.push_back(fmt::format("missing: fewer than {} sessions.", 2 * rule.change.shortest));
    table.notes.push_back(fmt::format(
        "Told: a new level of {:.0f}% or more in the last {} sessions with {} behind it, or {} sessions in a row "
        "beyond what the {} or more before them predict; and standing up to the number of series at {:.0f}% (Benjamini "
        "and Hochberg). By chance something is told in {:.0f} to {:.0f}% of looks at a hundred series of which none "
        "changed, as measured on invented ones.",
        100 * rule.change.smallest_change, rule.alert.recent, rule.alert.after, rule.prediction.hits,
        rule.prediction.fewest, 100 * rule.false_discovery_rate, 100 * kLeastChanceNews, 100 * kMostChanceNews));
    return table;
}

}  // namespace deft::reporting
