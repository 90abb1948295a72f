#pragma once
// A tiny model whose steps change in length and in dropped tokens, and experts for it.

#include "tests/engine/model_parts.h"
#include "tests/engine/tiny.h"

namespace deft::engine {

// Micro-batches, shorter samples and dropped tokens, at odd sizes.
inline TrainerConfig short_steps() {
    TrainerConfig config = tiny_config(4, 11, 3);
    config.micro_batch_size = 2;
    config.techniques.seqtru = Pacing{7, 11, 1, 3, 1};
    config.techniques.dropping = random_ltd(config.model.layers(), Pacing{5, 11, 1, 6, 1});
    return config;
}

// Experts whose routing draws in each of its parts, and drops rows.
inline ExpertsConfig drawn_experts() {
    return {.count = 3,
            .top = 1,
            .capacity_factor = 0.5,
            .min_capacity = 1,
            .jitter = 0.01,
            .sampled_noise = true,
            .aux_weight = 0.3};
}

}  // namespace deft::engine
