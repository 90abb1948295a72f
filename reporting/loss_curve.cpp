#include "reporting/loss_curve.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace deft::reporting {

namespace {

// Where a value lies between two others: 0 at the first.
double share_between(double from, double to, double value) {
    if (from > 0) return std::log(value / from) / std::log(to / from);
    return (value - from) / (to - from);
}

double place_between(double from, double to, double share) {
    if (from > 0) return from * std::pow(to / from, share);
    return from + share * (to - from);
}

}  // namespace

std::optional<double> loss_at(const LossCurve& curve, double consumed) {
    if (curve.empty() || consumed < curve.front().consumed || consumed > curve.back().consumed) return std::nullopt;
    const auto right = std::lower_bound(curve.begin(), curve.end(), consumed,
                                        [](const LossPoint& point, double at) { return point.consumed < at; });
    if (right->consumed == consumed) return right->loss;
    const LossPoint& left = *(right - 1);
    return left.loss + share_between(left.consumed, right->consumed, consumed) * (right->loss - left.loss);
}

std::optional<double> consumed_for(const LossCurve& curve, double loss) {
    for (std::size_t i = 0; i < curve.size(); ++i) {
        if (curve[i].loss > loss) continue;
        if (i == 0) return curve[i].consumed;
        const LossPoint& before = curve[i - 1];
        return place_between(before.consumed, curve[i].consumed, (before.loss - loss) / (before.loss - curve[i].loss));
    }
    return std::nullopt;
}

LossCurve mean_curve(const std::vector<LossCurve>& curves) {
    std::set<double> places;
    for (const LossCurve& curve : curves)
        for (const LossPoint& point : curve) places.insert(point.consumed);
    LossCurve mean;
    for (const double place : places) {
        double sum = 0;
        std::size_t count = 0;
        for (const LossCurve& curve : curves)
            if (const auto loss = loss_at(curve, place)) {
                sum += *loss;
                ++count;
            }
        if (count == curves.size()) mean.push_back({place, sum / static_cast<double>(count)});
    }
    return mean;
}

}  // namespace deft::reporting
