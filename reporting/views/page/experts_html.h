#pragma once
// Models with experts against dense ones, as a section of a sweep's page.

#include <string>
#include <vector>

#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

// Validation losses by tokens and by FLOPs where they were taken on the way, and which dense model each model with
// experts comes to. `base_case`: the baseline. Empty unless a sweep has both kinds of models.
std::string experts_html(const std::vector<Row>& rows, const Curves& curves, const std::string& base_recipe,
                         const std::string& id, const std::string& suffix);

}  // namespace deft::reporting
