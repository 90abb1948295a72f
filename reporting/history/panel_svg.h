#pragma once
// One series as a small chart: inline SVG, coloured by the page's style sheet.

#include <string>

#include "reporting/history/series_changes.h"

namespace deft::reporting {

// The newest sessions, equally far apart; their spread, the level between changes, and each change's size. `id`: of its
// title in the page.
std::string panel_svg(const SeriesHistory& history, const std::string& id);

// How many sessions a panel draws at most.
std::size_t most_drawn_sessions();

}  // namespace deft::reporting
