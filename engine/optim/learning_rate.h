#pragma once
// Learning rate as a function of what was trained on: warm-up over layer-averaged tokens or over steps, then decay over
// layer-averaged tokens. With token dropping or truncation every recipe thereby decays over the same budget (arXiv
// 2212.03597, section 3: token-based decay).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace deft::engine {

enum class Decay { constant, linear, cosine, step };

struct LearningRate {
    double max = 1e-3;
    double min = 0;                  // of linear and cosine decay
    std::int64_t warmup_tokens = 0;  // where warm-up ends and decay begins
    std::int64_t decay_tokens = 0;   // where min is reached, or the last stage ends
    Decay decay = Decay::cosine;
    // Above 0: the rate rises by steps, whose number consumes warmup_tokens. See layer_tokens_after() in
    // engine/train/accounting.h.
    std::int64_t warmup_steps = 0;
    double decay_factor = 10;       // of step decay: what the rate is divided by at the end of each stage but the last
    std::int64_t decay_stages = 3;  // of equal length
};

// floor(stages * decayed / span), at most the last stage: torch.optim.lr_scheduler.StepLR with stages in place of its
// step_size. In integers, so that a stage begins at the very token; begins of stages are rounded up without a product
// of tokens, which 64 bits might not hold.
inline std::int64_t decay_stage(std::int64_t stages, std::int64_t decayed, std::int64_t span) {
    const auto begin = [&](std::int64_t stage) {
        return stage * (span / stages) + (stage * (span % stages) + stages - 1) / stages;
    };
    std::int64_t stage = 0;
    while (stage + 1 < stages && decayed >= begin(stage + 1)) ++stage;
    return stage;
}

// The remaining share of the maximum after `decayed` of `span` tokens of decay.
inline double decayed_rate(const LearningRate& s, std::int64_t decayed, std::int64_t span) {
    if (s.decay == Decay::constant) return s.max;
    if (s.decay == Decay::step)
        return s.max / std::pow(s.decay_factor, static_cast<double>(decay_stage(s.decay_stages, decayed, span)));
    const double progress = std::min(1.0, static_cast<double>(decayed) / static_cast<double>(span));
    const double left = s.decay == Decay::linear ? 1 - progress : 0.5 * (1 + std::cos(std::numbers::pi * progress));
    return s.min + (s.max - s.min) * left;
}

// The rate of the step that starts after `steps` steps and `layer_tokens` layer-averaged tokens:
// max * layer_tokens / warmup_tokens while warming up, or max * steps / warmup_steps (as Megatron-LM's
// --lr-warmup-iters), then min + (max - min) * f(progress) with f linear or (1 + cos(pi progress)) / 2, or
// max / factor^floor(stages * progress).
inline double learning_rate_at(const LearningRate& s, std::int64_t steps, std::int64_t layer_tokens) {
    if (s.warmup_steps > 0) {
        if (steps < s.warmup_steps) return s.max * static_cast<double>(steps) / static_cast<double>(s.warmup_steps);
    } else if (layer_tokens < s.warmup_tokens) {
        return s.max * static_cast<double>(layer_tokens) / static_cast<double>(s.warmup_tokens);
    }
    const std::int64_t span = std::max<std::int64_t>(1, s.decay_tokens - s.warmup_tokens);
    return decayed_rate(s, layer_tokens - s.warmup_tokens, span);
}

}  // namespace deft::engine
