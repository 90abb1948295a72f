#pragma once
// Validation losses on the way, as figures: smoother than training losses, and of the same text for all rows.

#include <vector>

#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/views/render/figure.h"

namespace deft::reporting {

// Over consumed tokens and over FLOPs: one series a row whose finished seeds were all validated at three steps or
// more. Empty where no two rows were.
std::vector<Figure> validation_figures(const std::vector<Row>& rows, const Curves& curves);

}  // namespace deft::reporting
