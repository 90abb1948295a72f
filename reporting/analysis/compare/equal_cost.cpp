#include "reporting/analysis/compare/equal_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "reporting/analysis/statistics/contrast.h"
#include "reporting/analysis/statistics/distributions.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

constexpr double kCurveConfidence = 0.95;
constexpr std::size_t kTableCosts = 10, kDrawnCosts = 80, kSearchedCosts = 200;

// Each curve's loss there. All of them reach that far.
std::vector<double> losses_at(const std::vector<LossCurve>& curves, double paid) {
    std::vector<double> losses;
    for (const LossCurve& curve : curves) losses.push_back(loss_at(curve, paid).value());
    return losses;
}

std::optional<Interval> welch_interval(const std::vector<double>& a, const std::vector<double>& b) {
    if (std::min(a.size(), b.size()) < kFewestSeeds) return std::nullopt;
    const WelchTest test = welch(a, b);
    if (test.standard_error == 0) return std::nullopt;
    const double half = student_t_quantile(kCurveConfidence, test.degrees) * test.standard_error;
    return Interval{test.difference - half, test.difference + half};
}

// The range that all curves cover.
struct Overlap {
    double from = 0, to = std::numeric_limits<double>::infinity();
};

Overlap overlap_of(const std::vector<LossCurve>& a, const std::vector<LossCurve>& b) {
    Overlap overlap;
    for (const auto* curves : {&a, &b})
        for (const LossCurve& curve : *curves) {
            overlap.from = std::max(overlap.from, curve.front().consumed);
            overlap.to = std::min(overlap.to, curve.back().consumed);
        }
    return overlap;
}

// The i-th of n places on it, of which the last is its very end.
double place_of(const Overlap& overlap, std::size_t i, std::size_t n) {
    if (i + 1 == n) return overlap.to;
    return overlap.from + (overlap.to - overlap.from) * static_cast<double>(i) / static_cast<double>(n - 1);
}

// The first cost on the overlap at which that holds, between the places by bisection; nothing: it never does.
template <class Holds>
std::optional<double> first_cost(const Overlap& overlap, const Holds& holds) {
    double before = overlap.from;
    for (std::size_t i = 0; i < kSearchedCosts; ++i) {
        double at = place_of(overlap, i, kSearchedCosts);
        if (!holds(at)) {
            before = at;
            continue;
        }
        for (int step = 0; step < 30 && before < at; ++step) {
            const double middle = (before + at) / 2;
            (holds(middle) ? at : before) = middle;
        }
        return at;
    }
    return std::nullopt;
}

// `ends`: the losses with which one side's seeds end.
std::optional<Reached::Range> range_of(const std::vector<double>& ends, const std::vector<LossCurve>& other) {
    const Overlap own = overlap_of(other, {});
    if (std::min(ends.size(), other.size()) < kFewestSeeds || own.from > own.to) return std::nullopt;
    const auto above = [&](double paid) {
        const std::vector<double> losses = losses_at(other, paid);
        const double difference = mean(losses) - mean(ends);
        return welch_interval(ends, losses).value_or(Interval{difference, difference});
    };
    return Reached::Range{first_cost(own, [&](double paid) { return above(paid).low <= 0; }),
                          first_cost(own, [&](double paid) { return above(paid).high <= 0; })};
}

Reached reached(const std::vector<LossCurve>& it, const LossCurve& mean_of_it, const std::vector<LossCurve>& other,
                const LossCurve& mean_of_other) {
    const double loss = mean_of_it.back().loss;
    return {loss, consumed_for(mean_of_it, loss).value(), consumed_for(mean_of_other, loss),
            range_of(losses_at(it, mean_of_it.back().consumed), other)};
}

}  // namespace

EqualCost at_equal_cost(const std::vector<LossCurve>& a, const std::vector<LossCurve>& b, std::size_t costs) {
    if (costs < 2) throw Error(ErrorKind::config, "curves are compared at two costs or more");
    EqualCost result;
    const Overlap overlap = overlap_of(a, b);
    if (overlap.from > overlap.to) {
        result.missing = "some of the curves end before others begin";
        return result;
    }
    for (std::size_t i = overlap.from == overlap.to ? costs - 1 : 0; i < costs; ++i) {
        EqualCostRow row;
        row.paid = place_of(overlap, i, costs);
        const std::vector<double> of_a = losses_at(a, row.paid), of_b = losses_at(b, row.paid);
        row.a = mean(of_a);
        row.b = mean(of_b);
        row.difference = row.b - row.a;
        row.interval = welch_interval(of_a, of_b);
        result.rows.push_back(row);
    }
    const LossCurve mean_a = mean_curve(a), mean_b = mean_curve(b);
    if (mean_a.empty() || mean_b.empty()) return result;
    result.of_a = reached(a, mean_a, b, mean_b);
    result.of_b = reached(b, mean_b, a, mean_a);
    return result;
}

EqualCost at_equal_cost(const ComparedCurves& curves) {
    EqualCost result;
    if (curves.missing.empty())
        result = at_equal_cost(curves.a, curves.b, kTableCosts);
    else
        result.missing = curves.missing;
    result.by = curves.by;
    result.is_validation = curves.is_validation;
    return result;
}

namespace {

CurvePoint drawn_point(double paid, const std::vector<double>& losses) {
    const double middle = mean(losses);
    if (losses.size() < kFewestSeeds) return {paid, middle, middle, middle};
    const auto n = static_cast<double>(losses.size());
    const double half = student_t_quantile(kCurveConfidence, n - 1) * standard_deviation(losses) / std::sqrt(n);
    return {paid, middle, middle - half, middle + half};
}

Series drawn_series(const std::vector<LossCurve>& curves, const std::string& name, std::size_t style) {
    Series series;
    series.name = name;
    series.style = style;
    series.seeds = curves.size() < kFewestSeeds ? 1 : curves.size();  // two seeds have no band
    const Overlap own = overlap_of(curves, {});
    if (own.from > own.to) return series;
    for (std::size_t i = 0; i < kDrawnCosts; ++i) {
        const double paid = place_of(own, i, kDrawnCosts);
        series.points.push_back(drawn_point(paid, losses_at(curves, paid)));
    }
    return series;
}

}  // namespace

Figure equal_cost_figure(const ComparedCurves& curves, const std::string& name_a, const std::string& name_b) {
    Figure figure;
    figure.id = "loss-at-equal-cost";
    figure.x_title = words_of(curves.by).title;
    figure.y_title = curves.is_validation ? "Validation loss (nats)" : "Training loss (nats)";
    figure.title = fmt::format("{} by {}", curves.is_validation ? "Validation loss" : "Training loss", figure.x_title);
    figure.band = "the 95% interval of the mean";
    figure.series = {drawn_series(curves.a, name_a, 0), drawn_series(curves.b, name_b, 1)};
    return figure;
}

}  // namespace deft::reporting
