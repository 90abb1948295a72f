#include "experiments/tuning/fluctuation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deft::experiments {

std::optional<Fluctuation> find_fluctuation(std::span<const LossPoint> curve, const FluctuationRule& rule) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double minimum = kInfinity;
    for (std::size_t i = 0; i < curve.size() && curve[i].warmups <= rule.warmups; ++i) {
        const double loss = curve[i].loss;
        if (!std::isfinite(loss)) return Fluctuation{i, minimum, kInfinity};
        if (loss > minimum * (1 + rule.threshold)) return Fluctuation{i, minimum, loss / minimum - 1};
        minimum = std::min(minimum, loss);
    }
    return {};
}

}  // namespace deft::experiments
