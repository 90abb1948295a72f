#pragma once
// Parts of a published table that a sweep does not ask for: no run fills them before the sweep's file is changed.

#include <string>
#include <vector>

#include "reporting/analysis/missing/missing_runs.h"
#include "reporting/analysis/published/published.h"
#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

// Rows without a recipe at that budget, and columns without a task.
std::vector<MissingRun> missing_edits(const Results& sweep, const std::vector<Row>& rows, const PublishedTable& table);

// The names of the table's claims that are of that row, or compare it with others.
std::vector<std::string> claims_of(const PublishedTable& table, const Row& row);

}  // namespace deft::reporting
