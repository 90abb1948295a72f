#pragma once
// The events in each series of a history, which a reader must see first, and both as tables.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reporting/analysis/trend/trend_check.h"
#include "reporting/table.h"

namespace deft::reporting {

// The event in one series.
struct SeriesHistory {
    BenchSeries series;                    // points that are positive and finite; one at least
    std::vector<ChangePoint> changes;      // all that the series shows
    std::optional<CheckFinding> finding;   // what `deft check trend` says of it; nothing: the series has ended
    std::optional<double> history_median;  // seconds, of the sessions before the newest; nothing for the first
    std::optional<double> newest_ratio;    // the newest session over that

    bool is(Outcome outcome) const { return finding && finding->outcome == outcome; }
};

// Slower ones first, then faster, unclear, changed longer ago, and the others; among equals the larger change first.
std::vector<SeriesHistory> series_histories(std::span<const BenchSeries> series, const TrendRule& rule = {});

// "slower", "faster", "inconclusive", "changed before", "steady", "too short", "ended", "broken".
std::string status_text(const SeriesHistory& history);
// "1.12x from 2024-05-01 (0123456789ab)": a change's ratio, and the first session on the new level.
std::string change_text(const SeriesHistory& history, const ChangePoint& change);
// "2024-05-01 (0123456789ab)".
std::string session_text(std::int64_t started_ms, const std::string& git_sha);

// A row a series, in the order given.
Table history_table(std::span<const SeriesHistory> histories);

// Where it was measured: a row a host and compiler, with how many sessions, and the first and newest commit.
Table environments_table(std::span<const SeriesHistory> histories);

}  // namespace deft::reporting
