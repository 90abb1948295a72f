#include "reporting/history/history_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/short_hash.h"
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
        {"benchmark", Align::left}, {"on", Align::left},      {"sessions"}, {"newest"}, {"median before"}, {"ratio"},
        {"now", Align::left},       {"last change", Align::left}};
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

}  // namespace deft::reporting
