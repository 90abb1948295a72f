#pragma once
// Sums and maxima over a warp and over a block, in an order that its size alone decides. Every thread gets the result.

#include <cmath>

#include "kernels/cuda/launch.h"
#include "kernels/device.h"

namespace deft::kernels::cuda {

inline constexpr unsigned kWholeWarp = 0xffffffffu;
inline constexpr int kWarpSize = 32;
inline constexpr int kMaxWarps = 32;  // of a block

// All 32 lanes take part. In a butterfly both partners compute the same a + b, so lanes agree bit for bit.
template <class Value, class Combine>
__device__ inline Value warp_reduce(Value value, const Combine& combine) {
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
        value = combine(value, __shfl_xor_sync(kWholeWarp, value, distance));
    return value;
}

template <class Value>
__device__ inline Value warp_sum(Value value) {
    return warp_reduce(value, [](Value a, Value b) { return a + b; });
}

// Results of the warps of a block; shared by all reductions of this type.
template <class Value>
__device__ inline Value* results_of_warps() {
    DEFT_SHARED(Value, results, kMaxWarps);
    return results;
}

// All threads of a block of whole warps take part.
template <class Value, class Combine>
__device__ inline Value block_reduce(Value value, Value identity, const Combine& combine) {
    Value* const of_warp = results_of_warps<Value>();
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize, warps = static_cast<int>(blockDim.x) / kWarpSize;
    value = warp_reduce(value, combine);
    __syncthreads();  // an earlier reduction has been read
    if (lane == 0) of_warp[threadIdx.x / kWarpSize] = value;
    __syncthreads();
    return warp_reduce(lane < warps ? of_warp[lane] : identity, combine);
}

template <class Value>
__device__ inline Value block_sum(Value value) {
    return block_reduce(value, Value(0), [](Value a, Value b) { return a + b; });
}

// NaN is left out.
__device__ inline float block_max(float value) {
    return block_reduce(value, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
}

// Kernels that give each row to one warp.

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

// Exclusive prefix sums of integers over a block.

template <class Integer>
struct Prefix {
    Integer before;  // sum over the threads before this one
    Integer total;   // over all
};

// All threads of a block of whole warps take part.
template <class Integer>
__device__ inline Prefix<Integer> block_prefix(Integer value) {
    DEFT_SHARED(Integer, of_warp, kMaxWarps);
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize, warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const int warps = static_cast<int>(blockDim.x) / kWarpSize;
    Integer through = value;  // sum up to and with this lane
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
        const Integer left = __shfl_up_sync(kWholeWarp, through, static_cast<unsigned>(distance));
        if (lane >= distance) through += left;
    }
    __syncthreads();  // an earlier prefix has been read
    if (lane == kWarpSize - 1) of_warp[warp] = through;
    __syncthreads();
    Prefix<Integer> prefix{through - value, 0};
    for (int w = 0; w < warps; ++w) {
        if (w < warp) prefix.before += of_warp[w];
        prefix.total += of_warp[w];
    }
    return prefix;
}

}  // namespace deft::kernels::cuda
