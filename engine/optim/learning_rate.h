#pragma once
// Learning rate as a function of consumed layer-averaged tokens: warmup, then decay. With token dropping or truncation
// every case thereby decays over the same budget (arXiv 2212.03597, section 3: token-based decay).

#include <cstdint>

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
double learning_rate_at(const LearningRate& schedule, std::int64_t consumed);

}  // namespace deft::engine
