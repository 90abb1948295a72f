#include "reporting/analysis/statistics/change_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "reporting/analysis/statistics/distributions.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using Values = std::span<const double>;
using Indices = std::vector<std::size_t>;  // of change points, growing

void check(Values series, const ChangePointRule& rule) {
    if (rule.shortest < 2 || rule.window < 2 * rule.shortest)
        throw Error(ErrorKind::config,
                    fmt::format("windows of {} sessions and segments of {} find no change", rule.window, rule.shortest),
                    "a segment has two sessions or more, and a window room for two segments");
    for (std::size_t i = 0; i < series.size(); ++i)
        if (!(series[i] > 0 && std::isfinite(series[i])))
            throw Error(ErrorKind::data, fmt::format("session {} of a series has the value {}", i + 1, series[i]),
                        "values are positive and finite");
}

// The stretches that the points cut [0, size) into, as their bounds.
Indices bounds_of(const Indices& points, std::size_t size) {
    Indices bounds = {0};
    bounds.insert(bounds.end(), points.begin(), points.end());
    bounds.push_back(size);
    return bounds;
}

WelchTest compare(Values series, std::size_t begin, std::size_t split, std::size_t end) {
    return welch(series.subspan(begin, split - begin), series.subspan(split, end - split));
}

// The most divergent split over all stretches of the window, where Welch's test takes it for one.
std::optional<std::size_t> next_point(Values window, const EnergySplits& splits, const Indices& points,
                                      const ChangePointRule& rule) {
    const Indices bounds = bounds_of(points, window.size());
    std::optional<EnergySplit> best;
    std::size_t begin = 0, end = 0;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
        const auto split = splits.best(bounds[i], bounds[i + 1], rule.shortest);
        if (!split || (best && split->divergence <= best->divergence)) continue;
        best = split;
        begin = bounds[i];
        end = bounds[i + 1];
    }
    if (!best || compare(window, begin, best->index, end).p_value > rule.candidate_alpha) return std::nullopt;
    return best->index;
}

Indices points_in(Values window, const ChangePointRule& rule) {
    const EnergySplits splits(window);
    Indices points;
    while (const auto point = next_point(window, splits, points, rule))
        points.insert(std::upper_bound(points.begin(), points.end(), *point), *point);
    return points;
}

// A window starts at the last point found, or half a window on where that is further.
Indices candidates(Values series, const ChangePointRule& rule) {
    Indices points;
    for (std::size_t start = 0; start < series.size();) {
        const Values window = series.subspan(start, std::min(rule.window, series.size() - start));
        for (std::size_t point : points_in(window, rule)) points.push_back(start + point);
        start = std::max(points.empty() ? 0 : points.back(), start + rule.window / 2);
    }
    return points;
}

std::vector<ChangePoint> described(Values series, const Indices& points) {
    const Indices bounds = bounds_of(points, series.size());
    std::vector<ChangePoint> changes;
    for (std::size_t i = 1; i + 1 < bounds.size(); ++i) {
        const double before = mean(series.subspan(bounds[i - 1], bounds[i] - bounds[i - 1]));
        const double after = mean(series.subspan(bounds[i], bounds[i + 1] - bounds[i]));
        changes.push_back({bounds[i], before, after, compare(series, bounds[i - 1], bounds[i], bounds[i + 1]).p_value});
    }
    return changes;
}

double size_of(const ChangePoint& change) {
    return std::max(change.ratio(), 1 / change.ratio()) - 1;
}

// The point with the largest p above the level, or else the smallest change below its limit.
std::optional<std::size_t> weakest(const std::vector<ChangePoint>& changes, const ChangePointRule& rule) {
    if (changes.empty()) return std::nullopt;
    const auto least_sure = std::max_element(changes.begin(), changes.end(),
                                             [](const auto& a, const auto& b) { return a.p_value < b.p_value; });
    if (least_sure->p_value > rule.final_alpha) return least_sure - changes.begin();
    const auto smallest = std::min_element(changes.begin(), changes.end(),
                                           [](const auto& a, const auto& b) { return size_of(a) < size_of(b); });
    if (size_of(*smallest) < rule.smallest_change) return smallest - changes.begin();
    return std::nullopt;
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> series, const ChangePointRule& rule) {
    check(series, rule);
    Indices points = candidates(series, rule);
    std::vector<ChangePoint> changes = described(series, points);
    while (const auto out = weakest(changes, rule)) {
        points.erase(points.begin() + static_cast<std::ptrdiff_t>(*out));
        changes = described(series, points);  // its neighbours now border on longer stretches
    }
    return changes;
}

bool is_news(const ChangePoint& change, std::size_t sessions, const AlertRule& rule) {
    const std::size_t on_new_level = sessions - change.index;
    return on_new_level >= rule.after && on_new_level <= rule.recent;
}

EnergySplits::EnergySplits(std::span<const double> series) : stride_(series.size() + 1), sums_(stride_ * stride_, 0.0) {
    for (std::size_t i = 0; i < series.size(); ++i) {
        double row = 0;
        for (std::size_t j = 0; j < series.size(); ++j) {
            row += std::abs(series[i] - series[j]);
            sums_[(i + 1) * stride_ + j + 1] = sums_[i * stride_ + j + 1] + row;
        }
    }
}

double EnergySplits::distances(std::size_t a, std::size_t b, std::size_t c, std::size_t d) const {
    const auto first = [&](std::size_t i, std::size_t j) { return sums_[i * stride_ + j]; };
    return first(b, d) - first(a, d) - first(b, c) + first(a, c);
}

double EnergySplits::divergence(std::size_t begin, std::size_t split, std::size_t end) const {
    const double n = static_cast<double>(split - begin), m = static_cast<double>(end - split);
    // Means of the distances: across, and among the pairs of either part (which the sums hold twice).
    const double across = distances(begin, split, split, end) / (n * m);
    const double left = distances(begin, split, begin, split) / (n * (n - 1));
    const double right = distances(split, end, split, end) / (m * (m - 1));
    return n * m / (n + m) * (2 * across - left - right);
}

std::optional<EnergySplit> EnergySplits::best(std::size_t begin, std::size_t end, std::size_t shortest) const {
    std::optional<EnergySplit> found;
    for (std::size_t split = begin + shortest; split + shortest <= end; ++split)
        for (std::size_t right = split + shortest; right <= end; ++right) {
            const double value = divergence(begin, split, right);
            if (!found || value > found->divergence) found = EnergySplit{split, value};
        }
    return found;
}

}  // namespace deft::reporting
