#include "engine/optim/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace deft::engine {

double learning_rate_at(const LearningRate& s, std::int64_t consumed) {
    if (consumed < s.warmup_tokens) return s.max * static_cast<double>(consumed) / static_cast<double>(s.warmup_tokens);
    if (s.decay == Decay::constant) return s.max;
    const double span = static_cast<double>(std::max<std::int64_t>(1, s.decay_tokens - s.warmup_tokens));
    const double progress = std::min(1.0, static_cast<double>(consumed - s.warmup_tokens) / span);
    const double left = s.decay == Decay::linear ? 1 - progress : 0.5 * (1 + std::cos(std::numbers::pi * progress));
    return s.min + (s.max - s.min) * left;
}

}  // namespace deft::engine
