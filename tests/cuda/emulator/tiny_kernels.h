#pragma once
// Kernels that tests of the emulator run: right ones, whose barriers can be skipped, and wrong ones.

#include <cstdint>

#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda::tiny {

inline constexpr unsigned kAll = 0xffffffffu;
inline constexpr int kWarps = 4, kThreads = 32 * kWarps;

// out (blocks) = sums over in (blocks, n).
__global__ inline void block_sum(std::int64_t* out, const std::int32_t* in, std::int64_t n) {
    DEFT_SHARED(std::int64_t, of_warp, kWarps);
    std::int64_t sum = 0;
    for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += in[blockIdx.x * n + i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(kAll, sum, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) sum += of_warp[warp];
    out[blockIdx.x] = sum;
}

// items (blocks, 32 kWarps): each warp reverses its part.
__global__ inline void reverse_in_warps(std::int32_t* items) {
    DEFT_SHARED(std::int32_t, part, kThreads);
    std::int32_t* const item = items + blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = *item;
    __syncwarp();
    *item = part[threadIdx.x ^ 31u];
}

// The same, with a shuffle where memory must be ordered.
__global__ inline void reverse_without_order(std::int32_t* items) {
    DEFT_SHARED(std::int32_t, part, kThreads);
    std::int32_t* const item = items + blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = *item;
    __shfl_xor_sync(kAll, 0, 1);
    *item = part[threadIdx.x ^ 31u];
}

// total = sum over in (blocks, threads). Right with atomicAdd, a race between blocks without.
__global__ inline void add_up(std::int32_t* total, const std::int32_t* in, bool atomic) {
    const std::int32_t value = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (atomic)
        atomicAdd(total, value);
    else if (threadIdx.x == 0)
        *total += value;
}

// total = sum of in (blocks), which the last block adds.
__global__ inline void add_up_last(std::int32_t* total, std::int32_t* partial, unsigned* counter,
                                   const std::int32_t* in) {
    if (threadIdx.x != 0) return;
    partial[blockIdx.x] = in[blockIdx.x];
    __threadfence();  // before
    if (atomicInc(counter, gridDim.x - 1) != gridDim.x - 1) return;
    __threadfence();  // after
    *total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) *total += partial[i];
}

// out (n): the sum of three, through an array of the thread's own.
__global__ inline void local_arrays(std::int32_t* out) {
    volatile std::int32_t own[3];
    for (int i = 0; i < 3; ++i) own[i] = static_cast<std::int32_t>(blockIdx.x) + i;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = own[0] + own[1] + own[2];
}

}  // namespace deft::kernels::cuda::tiny
