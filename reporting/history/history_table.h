#pragma once
// The history of benchmarks as tables.

#include <span>

#include "reporting/history/series_changes.h"
#include "reporting/table.h"

namespace deft::reporting {

// A row a series, in the order given.
Table history_table(std::span<const SeriesHistory> histories);

// Where it was measured: a row a host and compiler, with how many sessions, and the first and newest commit.
Table environments_table(std::span<const SeriesHistory> histories);

}  // namespace deft::reporting
