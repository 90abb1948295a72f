#pragma once
// GLUE by the papers' protocol as a table: a row a pretrained model and fine-tuning rate, a column a column of the
// published table.

#include <optional>

#include "reporting/analysis/results/results.h"
#include "reporting/table.h"

namespace deft::reporting {

// Nothing where the sweep fine-tunes no model on GLUE.
std::optional<Table> glue_table(const Results& sweep);

}  // namespace deft::reporting
