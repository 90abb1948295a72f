#pragma once
// What training drew from its samples: how many were admitted, drawn again, cut and padded, and how often the easy and
// the hard ones came.

#include <vector>

#include "reporting/curves.h"
#include "reporting/figure.h"
#include "reporting/table.h"
#include "reporting/variants.h"

namespace deft::reporting {

// Samples that a curriculum admits, by step, means over the finished seeds of each row. Empty where every row admits
// all samples from its first step on.
std::vector<Figure> pool_figures(const std::vector<Variant>& variants, const Curves& curves);

// One row a row of the comparison, at its last step: means over the finished seeds. Without rows where nothing was
// recorded.
Table draws_table(const std::vector<Variant>& variants, const Curves& curves);

}  // namespace deft::reporting
