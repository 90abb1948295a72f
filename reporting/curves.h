#pragma once
// Training curves of a sweep as figures: loss by what was consumed.

#include <map>
#include <string>
#include <vector>

#include "reporting/figure.h"
#include "reporting/table.h"
#include "reporting/variants.h"
#include "results_db/store.h"

namespace deft::reporting {

using Curves = std::map<std::string, results_db::TrialCurve>;  // by config hash

// Training loss by layer-averaged tokens, by input tokens and by FLOPs, with the validation losses as marks: one series
// a row, over its finished seeds. Raw points: decimated, never smoothed. Rows beyond those that a reader can tell apart
// are named, not drawn. Empty where nothing was recorded.
std::vector<Figure> curve_figures(const std::vector<Variant>& variants, const Curves& curves);

// Points of a figure as a table, evenly picked from each series.
Table figure_table(const Figure& figure);

}  // namespace deft::reporting
