#include "reporting/history/series_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/median.h"
#include "base/short_hash.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

bool can_be_drawn(const SessionPoint& point) {
    return point.seconds > 0 && std::isfinite(point.seconds);
}

SeriesHistory history_of(BenchSeries series, const TrendRule& rule) {
    SeriesHistory history;
    std::vector<double> seconds;
    for (const SessionPoint& point : series.points) seconds.push_back(point.seconds);
    history.series = std::move(series);
    history.changes = change_points(seconds, rule.change);
    const double newest = seconds.back();
    seconds.pop_back();
    if (seconds.empty()) return history;
    history.history_median = median(std::move(seconds));
    history.newest_ratio = newest / *history.history_median;
    return history;
}

double largest_change(const SeriesHistory& history) {
    if (history.finding && history.finding->effect) return std::abs(*history.finding->effect);
    double largest = 0;
    for (const ChangePoint& change : history.changes) largest = std::max(largest, std::abs(std::log(change.ratio())));
    return history.changes.empty() && history.newest_ratio ? std::abs(std::log(*history.newest_ratio)) : largest;
}

int rank(const SeriesHistory& history) {
    if (history.is(Outcome::worse) || history.is(Outcome::broken)) return 0;
    if (history.is(Outcome::better)) return 1;
    if (history.is(Outcome::unclear)) return 2;
    if (!history.finding) return 5;
    return history.changes.empty() ? 4 : 3;
}

}  // namespace

std::vector<SeriesHistory> series_histories(std::span<const BenchSeries> all, const TrendRule& rule) {
    std::map<std::pair<std::string, std::string>, CheckFinding> findings;
    for (const TrendFinding& one : check_trend(all, rule))
        findings[{one.judged.finding.name, one.judged.finding.where}] = one.judged.finding;
    std::vector<SeriesHistory> histories;
    for (BenchSeries series : all) {
        std::erase_if(series.points, [](const SessionPoint& point) { return !can_be_drawn(point); });
        if (series.points.empty()) continue;
        const auto found = findings.find({series.name, series.where});
        histories.push_back(history_of(std::move(series), rule));
        if (found != findings.end()) histories.back().finding = found->second;
    }
    std::stable_sort(histories.begin(), histories.end(), [](const SeriesHistory& a, const SeriesHistory& b) {
        return std::tuple(rank(a), -largest_change(a)) < std::tuple(rank(b), -largest_change(b));
    });
    return histories;
}

std::string status_text(const SeriesHistory& history) {
    if (!history.finding) return "ended";
    switch (history.finding->outcome) {
        case Outcome::worse:
            return "slower";
        case Outcome::better:
            return "faster";
        case Outcome::missing:
            return "too short to tell";
        case Outcome::unclear:
        case Outcome::broken:
            return name(history.finding->outcome);
        case Outcome::same:
            break;
    }
    return history.changes.empty() ? "steady" : "changed before";
}

std::string session_text(std::int64_t started_ms, const std::string& git_sha) {
    return fmt::format("{} ({})", date(started_ms), short_hash(git_sha));
}

std::string change_text(const SeriesHistory& history, const ChangePoint& change) {
    const SessionPoint& first = history.series.points.at(change.index);
    return fmt::format("{:.3g}x from {}", change.ratio(), session_text(first.started_ms, first.git_sha));
}

}  // namespace deft::reporting
