#include "reporting/quality/loss_curve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace deft::reporting {

namespace {

constexpr int kSamples = 256;  // of the half that is averaged

// Equal numbers of neighbours become one point.
LossCurve thinned(const LossCurve& curve) {
    if (curve.size() <= kMostCurvePoints) return curve;
    LossCurve points;
    for (std::size_t i = 0; i < kMostCurvePoints; ++i) {
        const std::size_t begin = i * curve.size() / kMostCurvePoints, end = (i + 1) * curve.size() / kMostCurvePoints;
        LossPoint sum;
        for (std::size_t k = begin; k < end; ++k) {
            sum.tokens += curve[k].tokens;
            sum.loss += curve[k].loss;
        }
        const double n = static_cast<double>(end - begin);
        points.push_back({sum.tokens / n, sum.loss / n});
    }
    return points;
}

// Steps that consumed nothing have no place on a logarithmic axis, nor have two of one place.
void append(LossCurve& curve, std::int64_t tokens, double loss) {
    if (tokens > 0 && (curve.empty() || static_cast<double>(tokens) > curve.back().tokens))
        curve.push_back({static_cast<double>(tokens), loss});
}

double loss_at(const LossCurve& curve, double tokens) {
    const auto right = std::lower_bound(curve.begin(), curve.end(), tokens,
                                        [](const LossPoint& point, double at) { return point.tokens < at; });
    if (right->tokens == tokens || right == curve.begin()) return right->loss;
    const LossPoint& left = *(right - 1);
    const double share = std::log(tokens / left.tokens) / std::log(right->tokens / left.tokens);
    return left.loss + share * (right->loss - left.loss);
}

}  // namespace

LossCurve training_curve(const results_db::TrialCurve& trial) {
    LossCurve curve;
    for (const journal::TrainPoint& point : trial.points) append(curve, point.layer_tokens, point.loss);
    return thinned(curve);
}

LossCurve validation_curve(const results_db::TrialCurve& trial) {
    LossCurve curve;
    auto point = trial.points.begin();
    std::int64_t consumed = 0;
    for (const auto& [step, loss] : trial.validation_losses) {
        for (; point != trial.points.end() && point->step <= step; ++point) consumed = point->layer_tokens;
        append(curve, consumed, loss);
    }
    return thinned(curve);
}

std::optional<double> late_loss(const LossCurve& curve, double tokens) {
    const double from = tokens / 2;
    if (curve.empty() || !(tokens > 0) || curve.front().tokens > from || curve.back().tokens < tokens)
        return std::nullopt;
    const auto inside = std::count_if(curve.begin(), curve.end(),
                                      [&](const LossPoint& p) { return p.tokens >= from && p.tokens <= tokens; });
    if (inside < 2) return std::nullopt;
    double sum = 0;
    for (int i = 0; i < kSamples; ++i) sum += loss_at(curve, from + (tokens - from) * (i + 0.5) / kSamples);
    return sum / kSamples;
}

double common_tokens(std::span<const LossCurve* const> curves) {
    if (curves.empty()) return 0;
    double tokens = HUGE_VAL;
    for (const LossCurve* curve : curves) tokens = std::min(tokens, curve->empty() ? 0 : curve->back().tokens);
    return tokens;
}

}  // namespace deft::reporting
