#pragma once
// GLUE by the papers' protocol as a table: a row a pretrained model and fine-tuning rate, a column a column of the
// published table.

#include <optional>

#include "reporting/table.h"
#include "results_db/store.h"

namespace deft::reporting {

// Nothing where the sweep fine-tunes no model on GLUE.
std::optional<Table> glue_table(const results_db::SweepResults& sweep);

}  // namespace deft::reporting
