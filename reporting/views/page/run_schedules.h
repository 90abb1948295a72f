#pragma once
// Schedules as they were run: how long a step's samples were, and how many of their tokens each layer took.

#include <string>
#include <vector>

#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/views/render/figure.h"
#include "reporting/views/render/heat_map.h"

namespace deft::reporting {

// Each recipe is shown by the first finished seed with a curve of its largest budget: seeds share a schedule, and those
// of smaller budgets are shorter ones of the same form.

// The length of samples by step. Empty where it changes in no recipe.
std::vector<Figure> length_figures(const std::vector<Row>& rows, const Curves& curves);

// The tokens of a sample that each layer takes, by layer and step: one map a recipe whose layers drop tokens.
std::vector<HeatMap> kept_maps(const std::vector<Row>& rows, const Curves& curves);

// A section of the page. Empty where nothing changes and no layer drops tokens.
std::string schedules_html(const std::vector<Row>& rows, const Curves& curves, const std::string& id,
                           const std::string& suffix);

}  // namespace deft::reporting
