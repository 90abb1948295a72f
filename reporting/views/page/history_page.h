#pragma once
// The history of benchmarks as one HTML file that needs nothing else: no script, no network.

#include <span>
#include <string>

#include "reporting/analysis/trend/history_table.h"

namespace deft::reporting {

// A small chart a series, those that changed first. The same histories give the same bytes.
std::string render_history_page(std::span<const SeriesHistory> histories);

// One series as a small chart: inline SVG, coloured by the page's style sheet.

// The newest sessions, equally far apart; their spread, the level between changes, and each change's size. `id`: of its
// title in the page.
std::string panel_svg(const SeriesHistory& history, const std::string& id);

// How many sessions a panel draws at most.
std::size_t most_drawn_sessions();

}  // namespace deft::reporting
