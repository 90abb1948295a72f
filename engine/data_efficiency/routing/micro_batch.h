#pragma once
// What a router may look at.

#include <cstdint>

#include "engine/core/tensor.h"

namespace deft::engine {

struct MicroBatch {
    std::uint64_t seed = 0;
    std::int64_t step = 0;  // from 0
    Tensor sample_id;       // (B) i64: global ids
    Tensor token;           // (B, T) i32
    Tensor length;          // (B) i32: real tokens; empty: all are
};

}  // namespace deft::engine
