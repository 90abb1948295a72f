#pragma once
// Learning rate as a function of consumed layer-averaged tokens: warmup, then decay. With token dropping or truncation
// every case thereby decays over the same budget (arXiv 2212.03597, section 3: token-based decay).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace deft::engine {

enum class Decay { constant, linear, cosine };

struct LearningRate {
    double max = 1e-3;
    double min = 0;
    std::int64_t warmup_tokens = 0;
    std::int64_t decay_tokens = 0;  // where min is reached
    Decay decay = Decay::cosine;
};

// The rate of the step that starts after `consumed` layer-averaged tokens:
// max * consumed / warmup while warming up, then min + (max - min) * f(progress) with f linear or (1 + cos(pi
// progress)) / 2.
inline double learning_rate_at(const LearningRate& s, std::int64_t consumed) {
    if (consumed < s.warmup_tokens) return s.max * static_cast<double>(consumed) / static_cast<double>(s.warmup_tokens);
    if (s.decay == Decay::constant) return s.max;
    const double span = static_cast<double>(std::max<std::int64_t>(1, s.decay_tokens - s.warmup_tokens));
    const double progress = std::min(1.0, static_cast<double>(consumed - s.warmup_tokens) / span);
    const double left = s.decay == Decay::linear ? 1 - progress : 0.5 * (1 + std::cos(std::numbers::pi * progress));
    return s.min + (s.max - s.min) * left;
}

}  // namespace deft::engine
