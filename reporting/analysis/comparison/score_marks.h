#pragma once
// Marks in a comparison's columns of scores: which rows may be the best, and where the baseline only
// guesses.

#include <string>
#include <vector>

#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/table.h"

namespace deft::reporting {

// Marks them in a table whose columns are those of the fields and whose rows those of the rows. Of a column in
// which the baseline is at chance no row is the best.
void mark_scores(Table& table, const std::vector<Field>& fields, const std::vector<Row>& rows,
                 const std::string& base_recipe);

// The meaning of the marks, below the table; nothing without marks.
std::vector<std::string> score_mark_notes(const Table& table);

}  // namespace deft::reporting
