#pragma once
// Kernels over independent items: about one thread an item, and each thread strides over the rest.

#include <algorithm>

#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

inline Launch over_items(const char* kernel, std::int64_t items) {
    constexpr std::int64_t kMaxBlocks = 1 << 16;
    constexpr int kThreads = 256;
    return {kernel, std::min(ceil_div(items, kThreads), kMaxBlocks), kThreads};
}

__device__ inline std::int64_t first_item() {
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t item_stride() {
    return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

}  // namespace deft::kernels::cuda
