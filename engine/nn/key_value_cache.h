#pragma once
// The key-value cache of a model that generates: each layer's keys and values of past tokens, so that a token more
// costs one row (Pope et al. 2022, section 2.1).

#include <cstdint>
#include <vector>

#include "engine/core/step_graphs.h"
#include "engine/core/tensor.h"

namespace deft::engine {

struct KeyValueCache {
    struct Layer {
        Tensor keys, values;  // (samples, T, kv_heads head_size)
    };
    std::vector<Layer> layers;
    std::int64_t samples = 0, T = 0;              // T: tokens of a sample at most
    std::int64_t held = 0;                        // tokens of each sample that are there
    Tensor length;                                // (samples) i32: tokens of each sample after a step
    std::vector<std::int32_t> position, lengths;  // (samples), on the host: the position that a step adds, and `length`
    StepGraphs graphs;                            // of the steps after a prompt
};

}  // namespace deft::engine
