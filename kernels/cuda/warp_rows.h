#pragma once
// Kernels that give each row to one warp.

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

inline constexpr int kRowsOfBlock = 8;

inline Launch over_rows(const char* kernel, std::int64_t rows) {
    return {kernel, ceil_div(rows, kRowsOfBlock), kRowsOfBlock * kWarpSize};
}

// The row of this thread's warp, maybe past the last one.
__device__ inline std::int64_t warp_row() {
    return static_cast<std::int64_t>(blockIdx.x) * kRowsOfBlock + threadIdx.x / kWarpSize;
}
__device__ inline int warp_lane() {
    return static_cast<int>(threadIdx.x) % kWarpSize;
}

}  // namespace deft::kernels::cuda
