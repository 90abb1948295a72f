#pragma once
// Rows that a kernel takes from a stream, through an index or all of them.

#include <cstdint>

#include "kernels/device.h"

namespace deft::kernels::cuda {

// Rows (B, K) taken from a stream (B, T, C).
struct TakenRows {
    const std::int32_t* index;  // (B, K) or null
    std::int64_t rows, T, K, C;

    // The row of the stream that corresponds to row `i` of (B, K).
    __device__ std::int64_t in_stream(std::int64_t i) const { return index == nullptr ? i : i / K * T + index[i]; }
};

}  // namespace deft::kernels::cuda
