#pragma once
// A column for every score seen anywhere in a sweep, so that a gap shows as a gap.

#include <vector>

#include "reporting/field.h"
#include "results_db/store.h"

namespace deft::reporting {

// Validation first, then what is better higher, then the rest. The unigram entropy, which says nothing of a model, has
// no column. `sweep` must outlive the fields.
std::vector<Field> score_fields(const results_db::SweepResults& sweep);

}  // namespace deft::reporting
