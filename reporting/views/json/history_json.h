#pragma once
// A history of benchmarks as JSON.

#include <span>
#include <string>

#include "reporting/analysis/trend/history_table.h"

namespace deft::reporting {

// {"schema": "deft-bench-history/1", "series"}: each with its case, place, sessions and changes, in the order given.
std::string render_history_json(std::span<const SeriesHistory> histories);

}  // namespace deft::reporting
