#include "reporting/statistics/prediction_interval.h"

#include <algorithm>
#include <cmath>

#include "reporting/numbers.h"
#include "reporting/statistics/distributions.h"

namespace deft::reporting {

std::optional<Interval> prediction_interval(std::span<const double> level, const PredictionRule& rule) {
    if (level.size() < std::max<std::size_t>(rule.fewest, 2)) return std::nullopt;
    const std::span<const double> latest = level.last(std::min(rule.most, level.size()));
    const double n = static_cast<double>(latest.size());
    const double centre = mean(latest);
    const double error = standard_deviation(latest) * std::sqrt(1 + 1 / n);
    // The last term is the mean's own rounding, which a constant series must not exceed.
    const double half = student_t_quantile(rule.confidence, n - 1) * error + 1e-12 * std::abs(centre);
    return Interval{centre - half, centre + half};
}

LatestSessions latest_sessions(std::span<const double> level, const PredictionRule& rule) {
    LatestSessions result;
    if (rule.hits == 0 || level.size() <= rule.hits) return result;
    result.expected = prediction_interval(level.first(level.size() - rule.hits), rule);
    if (!result.expected) return result;
    const auto [low, high] = *result.expected;
    const std::span<const double> latest = level.last(rule.hits);
    const auto all = [&](auto beyond) { return std::all_of(latest.begin(), latest.end(), beyond); };
    if (all([&](double value) { return value > high; })) result.departure = Departure::above;
    if (all([&](double value) { return value < low; })) result.departure = Departure::below;
    return result;
}

}  // namespace deft::reporting
