#include "engine/data_efficiency/sampling/pacing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace deft::engine {

namespace {

// Between the points around t, or the earlier one's value.
double value_at_points(const Pacing& p, std::int64_t t) {
    const auto after = std::upper_bound(p.points.begin(), p.points.end(), t,
                                        [](std::int64_t step, const PacingPoint& point) { return step < point.step; });
    if (after == p.points.begin()) return static_cast<double>(after->value);
    const PacingPoint& before = *(after - 1);
    if (p.kind == PacingKind::discrete || after == p.points.end()) return static_cast<double>(before.value);
    const double share = static_cast<double>(t - before.step) / static_cast<double>(after->step - before.step);
    return static_cast<double>(before.value) + share * static_cast<double>(after->value - before.value);
}

double grown_value(const Pacing& p, std::int64_t t) {
    const double min = static_cast<double>(p.min), rise = static_cast<double>(p.max - p.min);
    const double fraction = static_cast<double>(t) / static_cast<double>(p.duration);
    switch (p.kind) {
        case PacingKind::root:
            return (p.root_degree == 1 ? fraction : std::pow(fraction, 1 / p.root_degree)) * rise + min;
        case PacingKind::step: {
            // Products before quotients: t / duration times the stages may be just below the stage that begins at t.
            const auto stages = static_cast<double>(p.stages);
            return std::floor(static_cast<double>(t) * stages / static_cast<double>(p.duration)) * rise / stages + min;
        }
        case PacingKind::exponential:
            return min * std::pow(static_cast<double>(p.max) / min, fraction);
        case PacingKind::discrete:
        case PacingKind::points:
            return value_at_points(p, t);
    }
    return min;
}

}  // namespace

std::int64_t paced_value(const Pacing& p, std::int64_t t) {
    if (t >= p.duration) return p.max;
    auto value = static_cast<std::int64_t>(std::floor(grown_value(p, std::max<std::int64_t>(0, t))));
    if (p.points.empty()) value -= value % p.multiple;
    return std::clamp(value, p.min, p.max);
}

std::string problem_of_points(const std::vector<PacingPoint>& points) {
    if (points.empty()) return "holds no point";
    if (points.front().step > 0) return fmt::format("begins at step {}, not at 0", points.front().step);
    for (std::size_t i = 1; i < points.size(); ++i) {
        if (points[i].step <= points[i - 1].step)
            return fmt::format("has two points at step {} or goes back to it", points[i].step);
        if (points[i].value < points[i - 1].value)
            return fmt::format("falls from {} to {}", points[i - 1].value, points[i].value);
    }
    return "";
}

}  // namespace deft::engine
