#pragma once
// Starting kernels; included by .cu sources alone.

#include <algorithm>
#include <cstdint>

#include "kernels/ceil_div.h"
#include "kernels/cuda/exec.h"
#include "kernels/device.h"

namespace deft::kernels::cuda {

struct Launch {
    const char* kernel;  // its name, for messages and for the count of kernels that tests ran
    std::int64_t blocks;
    int threads;                   // a block
    std::size_t shared_bytes = 0;  // dynamic
};

template <class... Parameters, class... Arguments>
void launch(Exec& exec, const Launch& shape, void (*kernel)(Parameters...), Arguments... arguments) {
    if (shape.blocks == 0) return;
    start_kernel(shape.kernel, shape.blocks, shape.threads, shape.shared_bytes, exec.stream, kernel,
                 static_cast<Parameters>(arguments)...);
}

// Kernels over independent items: about one thread an item, and each thread strides over the rest.

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
