#pragma once
// One tile of a matrix product, made by a block without tensor cores; included by .cu sources alone.

#include <cstdint>

#include "kernels/bf16.h"
#include "kernels/cuda/gemm.h"
#include "kernels/device.h"

namespace deft::kernels::cuda {

// A tile is kGemmTile x kGemmTile, from tiles of a and b that are kGemmDepth deep. The block's kGemmThreads threads are
// a grid of 16 x 16; thread (y, x) owns rows y, y + 16, ... and columns x, x + 16, ...
inline constexpr int kGemmEdge = 16, kGemmThreads = kGemmEdge * kGemmEdge, kGemmItems = 4;
inline constexpr int kGemmTile = kGemmEdge * kGemmItems, kGemmDepth = 16;

// An element (row, col) is data[row * across + col * along], whichever way the operand is stored.
template <class Real>
struct Strided {
    const Real* data;
    std::int64_t rows, cols, across, along;

    // Zero past the edges.
    __device__ float at(std::int64_t row, std::int64_t col) const {
        return row < rows && col < cols ? to_float(data[row * across + col * along]) : 0.0f;
    }
};

template <class Real>
Strided<Real> strided(const Operand<Real>& operand, std::int64_t rows, std::int64_t cols) {
    const std::int64_t stored_cols = operand.transposed ? rows : cols;
    const std::int64_t leading = operand.leading == 0 ? stored_cols : operand.leading;
    return {operand.data, rows, cols, operand.transposed ? 1 : leading, operand.transposed ? leading : 1};
}

// finish(row, col, sum) for every element of the tile of a (m, k) b (k, n) that begins at (first_row, first_col). Each
// sum runs over k in order. All threads of the block take part.
template <class A, class B, class Finish>
__device__ inline void multiply_tile(const Strided<A>& a, const Strided<B>& b, std::int64_t first_row,
                                     std::int64_t first_col, const Finish& finish) {
    DEFT_SHARED(float, of_a, kGemmTile*(kGemmDepth + 1));  // (tile, depth), one float more a row: no bank conflicts
    DEFT_SHARED(float, of_b, kGemmDepth* kGemmTile);       // (depth, tile)
    const int thread = static_cast<int>(threadIdx.x), y = thread / kGemmEdge, x = thread % kGemmEdge;
    float sum[kGemmItems][kGemmItems] = {};
    for (std::int64_t k0 = 0; k0 < a.cols; k0 += kGemmDepth) {
        for (int i = thread; i < kGemmTile * kGemmDepth; i += kGemmThreads) {
            of_a[i / kGemmDepth * (kGemmDepth + 1) + i % kGemmDepth] =
                a.at(first_row + i / kGemmDepth, k0 + i % kGemmDepth);
            of_b[i] = b.at(k0 + i / kGemmTile, first_col + i % kGemmTile);
        }
        __syncthreads();
        for (int p = 0; p < kGemmDepth; ++p)
            for (int i = 0; i < kGemmItems; ++i)
                for (int j = 0; j < kGemmItems; ++j)
                    sum[i][j] +=
                        of_a[(y + i * kGemmEdge) * (kGemmDepth + 1) + p] * of_b[p * kGemmTile + x + j * kGemmEdge];
        __syncthreads();  // the tiles have been read
    }
    for (int i = 0; i < kGemmItems; ++i)
        for (int j = 0; j < kGemmItems; ++j) {
            const std::int64_t row = first_row + y + i * kGemmEdge, col = first_col + x + j * kGemmEdge;
            if (row < a.rows && col < b.cols) finish(row, col, sum[i][j]);
        }
}

}  // namespace deft::kernels::cuda
