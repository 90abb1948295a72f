#pragma once
// Training curves of a sweep as figures: loss by what was consumed.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/figure.h"
#include "reporting/table.h"

namespace deft::reporting {

using Curves = std::map<std::string, results_db::TrialCurve>;  // by config hash

// The horizontal axis of a curve.
struct Abscissa {
    const char* id;
    const char* name;
    double (*value)(const journal::TrainPoint&);
};
inline constexpr Abscissa kByLayerTokens = {
    "by-layer-tokens", "consumed tokens (layer-averaged)",
    [](const journal::TrainPoint& p) { return static_cast<double>(p.layer_tokens); }};
inline constexpr Abscissa kByInputTokens = {"by-input-tokens", "input tokens", [](const journal::TrainPoint& p) {
                                                return static_cast<double>(p.input_tokens);
                                            }};
inline constexpr Abscissa kByFlops = {"by-flops", "FLOPs", [](const journal::TrainPoint& p) { return p.flops; }};

inline constexpr std::size_t kMostSeries = 12;        // of a figure, that a reader can distinguish
inline constexpr std::size_t kMostDrawnPoints = 600;  // of a series

// The row's finished seeds that have something in that member.
template <class Points>
std::vector<const results_db::TrialCurve*> curves_with(Points results_db::TrialCurve::*points, const Row& row,
                                                       const Curves& curves) {
    std::vector<const results_db::TrialCurve*> out;
    for (const Trial* trial : row.ok)
        if (const auto found = curves.find(trial->config_hash);
            found != curves.end() && !(found->second.*points).empty())
            out.push_back(&found->second);
    return out;
}

// Training losses as points, validation losses as marks: means over those seeds at the steps that all of them have.
Series loss_series(const Row& row, const std::vector<const results_db::TrialCurve*>& seeds, const Abscissa& abscissa);

// Training loss by consumed tokens, by input tokens and by FLOPs, with the validation losses as marks: one series
// a row, over its finished seeds. Raw points: decimated, never smoothed. Rows beyond those that a reader can
// distinguish are named, not drawn. Empty where nothing was recorded.
std::vector<Figure> curve_figures(const std::vector<Row>& rows, const Curves& curves);

// Training loss of the trials that train now, by step: one line each, as far as it was taken in. Nothing where none has
// a point.
std::optional<Figure> running_figure(const Results& sweep, const Curves& curves);

// Consumption at that step: the newest logged point up to it; null before the first.
const journal::TrainPoint* newest_point(const results_db::TrialCurve& curve, std::int64_t step);

// Points of a figure as a table, evenly picked from each series.
Table figure_table(const Figure& figure);

// Fewer points of a curve without losing its extremes.

// At most `most` points (at least 4): the first, the last, and of each run of neighbours the lowest and the highest, as
// they were. The band of a kept point covers its run. Nothing is averaged.
std::vector<CurvePoint> decimate(const std::vector<CurvePoint>& points, std::size_t most);

// How the rows of a sweep are drawn: colour and marker show the recipe, the dash shows the other axes.

// "cl 50% layers=2".
std::string series_name(const Row& row);

// Styled by the recipe's place in the sweep, so that it looks alike in every figure, whatever the others leave out.
class RecipeStyles {
 public:
    explicit RecipeStyles(const std::vector<Row>& rows);
    void give(const Row& row, Series& series) const;

 private:
    std::map<std::string, std::size_t> of_recipe_, of_axes_;
};

// Training's draws from its samples: how many were admitted, drawn again, cut and padded, and how often the easy and
// the hard ones came.

// Samples that a curriculum admits, by step, means over the finished seeds of each row. Empty where every row admits
// all samples from its first step on.
std::vector<Figure> pool_figures(const std::vector<Row>& rows, const Curves& curves);

// One line for each row of the comparison, at its last step: means over the finished seeds. Without rows where nothing
// was recorded.
Table draws_table(const std::vector<Row>& rows, const Curves& curves);

}  // namespace deft::reporting
