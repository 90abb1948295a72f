#pragma once
// The comparison table of a sweep: one row a case and budget, means over seeds, each resource also relative to the baseline.

#include <string>

#include "reporting/table.h"
#include "results_db/store.h"

namespace deft::reporting {

// baseline: the case_key that ratios refer to (at full budget); the first case where it is empty.
// scale: printed in the caption, as "smoke scale: too small to carry a claim about the paper's models".
Table comparison_table(const results_db::SweepResults&, const std::string& baseline, const std::string& scale);

}  // namespace deft::reporting
