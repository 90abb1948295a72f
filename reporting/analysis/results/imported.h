#pragma once
// Rows of models that were imported and not trained: scored as all others are, and costed by what their users state.

#include <string>
#include <vector>

#include "reporting/analysis/results/rows.h"
#include "reporting/table.h"
#include "results_db/imported_model.h"

namespace deft::reporting {

bool is_imported(const Row& row);

// "gpt2", or "gpt2 (imported)".
std::string recipe_text(const Row& row);

// Whether the sweep's file says what its training took.
bool states_anything(const results_db::ImportedModel& model);

// A number that the sweep's file states, marked as such; "-" where it states none.
Cell stated_cell(double value, std::string (*print)(double));

// "GPT-2 of Hugging Face, from models/gpt2 (sha256 0123456789ab)".
std::string origin_text(const results_db::ImportedModel& model);

// Which rows are imported, from what, and what the mark of a stated number means. Empty where no row is.
std::vector<std::string> imported_notes(const std::vector<Row>& rows);

}  // namespace deft::reporting
