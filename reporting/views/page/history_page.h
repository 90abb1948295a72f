#pragma once
// The history of benchmarks as one HTML file that needs no network and shows everything without its script.

#include <span>
#include <string>

#include "reporting/analysis/trend/history_table.h"

namespace deft::reporting {

// Small charts of one size, a case each, those that changed first. The same histories give the same bytes.
std::string render_history_page(std::span<const SeriesHistory> histories);

}  // namespace deft::reporting
