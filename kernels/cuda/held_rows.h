#pragma once
// Rows held in registers: 1, 2, 4 or 8 neighbouring warps of a block share a row, as chunks of kWidth values a thread.

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

inline constexpr int kHoldingThreads = kRowsOfBlock * kWarpSize;  // a block
inline constexpr int kLeastHeld = 8;                              // values of a row that a thread holds
template <class Real>
inline constexpr int kMostHeld = sizeof(Real) == 2 ? 16 : 12;  // in the registers of norm_held_rows_backward

// A thread's place among those that share a row.
struct RowHolder {
    int warps;  // a row

    __device__ int rows_at_once() const { return kRowsOfBlock / warps; }
    __device__ int row() const { return static_cast<int>(threadIdx.x) / (warps * kWarpSize); }
    __device__ int thread() const { return static_cast<int>(threadIdx.x) % (warps * kWarpSize); }
    // The first column of a chunk.
    template <int kWidth>
    __device__ std::int64_t column(int chunk) const {
        return (static_cast<std::int64_t>(chunk) * warps * kWarpSize + thread()) * kWidth;
    }
};

// Sums over the threads that share a row. `turn` grows by one a call of the block: two arrays alternate, so that one
// barrier a call is enough.
template <int kSums>
__device__ inline void sum_over_row(float (&value)[kSums], RowHolder holder, std::int64_t turn) {
    for (float& one : value) one = warp_sum(one);
    if (holder.warps == 1) return;
    DEFT_SHARED(float, of_warps, 2 * kSums * kRowsOfBlock);  // (turn, sum, warp)
    float* const of_turn = of_warps + turn % 2 * kSums * kRowsOfBlock;
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize, first = warp / holder.warps * holder.warps;
    for (int i = 0; warp_lane() == 0 && i < kSums; ++i) of_turn[i * kRowsOfBlock + warp] = value[i];
    __syncthreads();
    for (int i = 0; i < kSums; ++i) {
        value[i] = 0;
        for (int w = first; w < first + holder.warps; ++w) value[i] += of_turn[i * kRowsOfBlock + w];
    }
}

// Warps that hold a row of C values where a thread holds at most `held`; 0: a block is too small.
inline int warps_of_row(std::int64_t C, int held) {
    for (int warps = 1; warps <= kRowsOfBlock; warps *= 2)
        if (C <= static_cast<std::int64_t>(warps) * kWarpSize * held) return warps;
    return 0;
}

template <int kValue>
using Constant = std::integral_constant<int, kValue>;

// f(width, chunks, warps), the first two of them constants. False, without a call, for rows that no block holds.
template <class Real, class F>
bool with_held_rows(bool wide, std::int64_t C, const F& f) {
    const int warps = warps_of_row(C, wide ? kMostHeld<Real> : kLeastHeld);
    if (warps == 0) return false;
    if (!wide)
        f(Constant<1>{}, Constant<kLeastHeld>{}, warps);
    else if (const std::int64_t threads = warps * kWarpSize; C <= threads * kLeastHeld)
        f(Constant<kWide<Real>>{}, Constant<kLeastHeld / kWide<Real>>{}, warps);
    else
        f(Constant<kWide<Real>>{}, Constant<kMostHeld<Real> / kWide<Real>>{}, warps);
    return true;
}

}  // namespace deft::kernels::cuda
