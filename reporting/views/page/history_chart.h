#pragma once
// The history of one benchmark as a small chart: inline SVG, coloured by the page's style sheet.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reporting/analysis/trend/history_table.h"

namespace deft::reporting {

// The series that one chart draws: the states of the caches in which one host and compiler timed a case.
struct HistoryChart {
    std::string name, where;
    std::vector<const SeriesHistory*> series;  // hot, cold, rotating: those that exist; one at least
};

// In the order of the first history of each. They refer to the histories.
std::vector<HistoryChart> history_charts(std::span<const SeriesHistory> histories);

// A session that found its host changed, though the fingerprint is the same: the parts that differ.
struct HostChange {
    std::int64_t started_ms = 0;
    std::string before, after;
};
std::vector<HostChange> host_changes(const HistoryChart& chart);

// The newest sessions, equally far apart; their spread, the level between changes and each change's size; below the
// axis a tick where the code changed, and a dotted line where the host did. Several states share an axis in percent of
// each one's median before its newest session. `id`: of its title in the page.
std::string history_svg(const HistoryChart& chart, const std::string& id);

// How many sessions a chart draws at most.
std::size_t most_drawn_sessions();

}  // namespace deft::reporting
