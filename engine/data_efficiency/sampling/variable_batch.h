#pragma once
// Batches of about equally many tokens, and the learning rate that goes with their number of samples.

#include <cstdint>
#include <functional>

namespace deft::engine {

enum class LearningRateScaling { linear, square_root, none };

struct VariableBatch {
    std::int64_t max_tokens = 0;
    std::int64_t min_samples = 1;
    std::int64_t max_samples = 0;  // 0: no bound
    LearningRateScaling scaling = LearningRateScaling::linear;
};

// How many samples of one length a step takes: as many as have max_tokens tokens, within the bounds.
std::int64_t samples_of_length(const VariableBatch& batch, std::int64_t length);

// How many samples of different lengths a step takes that begins at a draw: the longest run whose lengths add up to at
// most max_tokens, within the bounds. A pure function of the draw, since every batch begins where the one before ended;
// no sample is left out, however long (the published code leaves out those longer than max_tokens, and the last batch).
std::int64_t samples_from_draw(const VariableBatch& batch, std::int64_t draw,
                               const std::function<std::int64_t(std::int64_t draw)>& length_at);

// The factor of the learning rate for a batch beside one of base_samples: their ratio (Goyal et al. 2017, section 2.1),
// its square root (Krizhevsky 2014, section 5), or one.
double learning_rate_scale(LearningRateScaling scaling, std::int64_t samples, std::int64_t base_samples);

}  // namespace deft::engine
