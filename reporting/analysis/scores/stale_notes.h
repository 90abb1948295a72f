#pragma once
// Stale results in words: notes below a table, and a table of their own.

#include <string>
#include <vector>

#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/table.h"

namespace deft::reporting {

// Notes below a table of these rows: what is stale and why, how to repeat it, and what is unknown.
std::vector<std::string> stale_notes(const std::vector<Row>& rows, const std::string& command);

// That rows come of other commits than this program and are not stale by code; empty where they do not. Another commit
// of one result epoch is a hint, no more.
std::string other_commit_note(const std::vector<Row>& rows, const std::string& commit_now);

// All that is stale, a row each; no row: nothing is. `command` does it again.
Table stale_table(const Results& sweep, const std::string& command);

}  // namespace deft::reporting
