#pragma once
// The columns that tell the rows of a sweep's tables apart: case, budget, other axes.

#include <vector>

#include "reporting/field.h"
#include "reporting/variants.h"

namespace deft::reporting {

// Budget and axes only where the sweep has them.
std::vector<Field> key_fields(const std::vector<Variant>& variants);

}  // namespace deft::reporting
