#include "reporting/analysis/trend/history_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/median.h"
#include "base/text.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

struct Environment {
    const BenchSeries* one = nullptr;                         // of its series
    std::set<std::pair<std::int64_t, std::string>> sessions;  // time and commit
    std::size_t series = 0;
};

std::string session_of(const std::pair<std::int64_t, std::string>& session) {
    return session_text(session.first, session.second);
}

std::string changes_text(const SeriesHistory& history) {
    if (history.changes.empty()) return "-";
    const std::size_t others = history.changes.size() - 1;
    return change_text(history, history.changes.back()) + (others == 0 ? "" : fmt::format(", {} before", others));
}

// "A" for the first place that is asked for, "AA" after "Z".
std::string letter_of(const std::string& place, std::vector<std::string>& places) {
    const auto found = std::find(places.begin(), places.end(), place);
    auto index = static_cast<std::size_t>(found - places.begin());
    if (found == places.end()) places.push_back(place);
    std::string letters;
    for (++index; index > 0; index = (index - 1) / 26)
        letters.insert(letters.begin(), static_cast<char>('A' + (index - 1) % 26));
    return letters;
}

}  // namespace

Table history_table(std::span<const SeriesHistory> histories) {
    Table table;
    table.caption = fmt::format("{} series of benchmark times", histories.size());
    table.columns = {
        {"benchmark", Align::left}, {"on", Align::left}, {"sessions"},         {"newest"},
        {"median before"},          {"ratio"},           {"now", Align::left}, {"last change", Align::left}};
    table.key_columns = 2;
    std::vector<std::string> places;
    for (const SeriesHistory& history : histories) {
        const BenchSeries& series = history.series;
        const double newest = series.points.back().seconds;
        table.rows.push_back(
            {series.name, letter_of(series.where, places),
             Cell(std::to_string(series.points.size()), static_cast<double>(series.points.size())),
             Cell(small_seconds(newest), newest),
             history.history_median ? Cell(small_seconds(*history.history_median), *history.history_median) : Cell("-"),
             history.newest_ratio ? Cell(fmt::format("{:.3f}", *history.newest_ratio), *history.newest_ratio)
                                  : Cell("-"),
             status_text(history), changes_text(history)});
    }
    for (const std::string& place : std::vector<std::string>(places))
        table.notes.push_back(letter_of(place, places) + ": " + place + ".");
    return table;
}

Table environments_table(std::span<const SeriesHistory> histories) {
    std::map<std::pair<std::string, std::string>, Environment> environments;
    for (const SeriesHistory& history : histories) {
        const BenchSeries& series = history.series;
        Environment& environment = environments[{series.host_fingerprint, series.compiler}];
        environment.one = &series;
        ++environment.series;
        for (const SessionPoint& point : series.points) environment.sessions.emplace(point.started_ms, point.git_sha);
    }
    Table table;
    table.caption = "Hosts and compilers: a series belongs to one of each";
    table.columns = {{"host", Align::left},
                     {"processor", Align::left},
                     {"fingerprint", Align::left},
                     {"compiler", Align::left},
                     {"series"},
                     {"sessions"},
                     {"first", Align::left},
                     {"newest", Align::left}};
    for (const auto& [key, environment] : environments)
        table.rows.push_back({environment.one->hostname, environment.one->cpu_model,
                              short_hash(environment.one->host_fingerprint), environment.one->compiler,
                              std::to_string(environment.series), std::to_string(environment.sessions.size()),
                              session_of(*environment.sessions.begin()), session_of(*environment.sessions.rbegin())});
    return table;
}

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
            return "too short";
        case Outcome::unclear:
        case Outcome::broken:
            return name(history.finding->outcome);
        case Outcome::holds:
        case Outcome::fails:
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
