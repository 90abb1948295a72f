#pragma once
// Which samples a step trains on: a pure function of (seed, corpus size, draw), so that any rank, any prefetch depth
// and any resume see the same. Every epoch is a new permutation: no repeats within one.

#include <cstdint>

#include "engine/data/permutation.h"

namespace deft::engine {

struct Sampler {
    std::uint64_t seed = 0;
    std::int64_t samples = 0;

    // draw = step * batch_size + position in the batch, from 0.
    std::int64_t sample_at(std::int64_t draw) const {
        const auto n = static_cast<std::uint64_t>(samples), d = static_cast<std::uint64_t>(draw);
        return static_cast<std::int64_t>(Permutation(n, seed, kernels::RandomPurpose::sample_order, d / n)(d % n));
    }
};

}  // namespace deft::engine
