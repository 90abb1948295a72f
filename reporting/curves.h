#pragma once
// Training curves of a sweep as figures: loss by what was consumed.

#include <cstddef>
#include <cstdint>
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

// What had been consumed at that step: the newest logged point up to it; null before the first.
const journal::TrainPoint* newest_point(const results_db::TrialCurve& curve, std::int64_t step);

// Points of a figure as a table, evenly picked from each series.
Table figure_table(const Figure& figure);

// Fewer points of a curve without losing what stands out.

// At most `most` points (at least 4): the first, the last, and of each run of neighbours the lowest and the highest, as
// they were. The band of a kept point covers its run. Nothing is averaged.
std::vector<CurvePoint> decimate(const std::vector<CurvePoint>& points, std::size_t most);

// How the rows of a sweep are drawn: colour and marker tell the case, the dash what else tells rows apart.

// "cl 50% layers=2".
std::string series_name(const Variant& variant);

// By the case's place in the sweep, so that it looks alike in every figure, whatever the others leave out.
class CaseStyles {
 public:
    explicit CaseStyles(const std::vector<Variant>& variants);
    void give(const Variant& variant, Series& series) const;

 private:
    std::map<std::string, std::size_t> of_case_, of_axes_;
};

// What training drew from its samples: how many were admitted, drawn again, cut and padded, and how often the easy and
// the hard ones came.

// Samples that a curriculum admits, by step, means over the finished seeds of each row. Empty where every row admits
// all samples from its first step on.
std::vector<Figure> pool_figures(const std::vector<Variant>& variants, const Curves& curves);

// One row a row of the comparison, at its last step: means over the finished seeds. Without rows where nothing was
// recorded.
Table draws_table(const std::vector<Variant>& variants, const Curves& curves);

}  // namespace deft::reporting
