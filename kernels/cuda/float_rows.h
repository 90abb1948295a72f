#pragma once
// Writes rows of sums in float, of which each lane holds as many neighbours as it loaded activations.

#include <cstdint>

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

template <int kWidth>
__device__ inline void write_sums(float* to, float (&sum)[kWidth], bool adds) {
    float old[kWidth] = {};
    if (adds) load(old, to);
    for (int i = 0; i < kWidth; ++i) sum[i] += old[i];
    store(to, sum);
}

// row (C) = or += sum, which the lane holds for the columns from c on. All lanes of a warp take part, those beyond C
// too. Two lanes that hold 8 columns each swap halves: their 16-byte accesses then cover whole sectors.
template <int kWidth>
__device__ inline void write_row(float* row, float (&sum)[kWidth], std::int64_t c, std::int64_t C, bool adds) {
    constexpr int kHalf = kWide<float>;
    static_assert(kWidth <= kHalf || kWidth == 2 * kHalf);
    if constexpr (kWidth <= kHalf) {
        if (c < C) write_sums(row + c, sum, adds);
    } else {
        const bool is_odd = warp_lane() % 2 == 1;
        float even[kHalf], odd[kHalf];  // of the even lane's columns, and of the odd one's
        for (int i = 0; i < kHalf; ++i) {
            const float other = __shfl_xor_sync(kWholeWarp, is_odd ? sum[i] : sum[kHalf + i], 1);
            even[i] = is_odd ? other : sum[i];
            odd[i] = is_odd ? sum[kHalf + i] : other;
        }
        const std::int64_t first = is_odd ? c - kWidth + kHalf : c;
        if (first < C) write_sums(row + first, even, adds);
        if (first + kWidth < C) write_sums(row + first + kWidth, odd, adds);
    }
}

}  // namespace deft::kernels::cuda
