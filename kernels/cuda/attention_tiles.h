#pragma once
// Tiles of attention in shared memory, and their products in registers. 256 threads stand as 16 x 16: thread (y, x)
// owns rows y, y + 16, ... and columns x, x + 16, ... of every result, so that a row belongs to one half warp.

#include <cstdint>

#include "kernels/bf16.h"
#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

inline constexpr int kTileEdge = 16, kTileThreads = kTileEdge * kTileEdge;

struct AttentionShape {
    std::int64_t B, T, H, d;
    float scale;  // 1 / sqrt(d)
    bool causal;
    const std::int32_t* length;  // (B) real tokens, or null
};

// Where the rows of head `number` of B H begin, and how far they stand apart, in qkv (B, T, 3, H, d), in (B, T, H, d)
// and in (B, H, T); and how many of its T rows are real tokens.
struct Head {
    std::int64_t q, k, v, packed_stride, plain, plain_stride, row, real;
    bool causal;

    __device__ Head(const AttentionShape& s, std::int64_t number) {
        const std::int64_t b = number / s.H, h = number % s.H;
        plain_stride = s.H * s.d;
        packed_stride = 3 * plain_stride;
        plain = b * s.T * plain_stride + h * s.d;
        q = b * s.T * packed_stride + h * s.d;
        k = q + plain_stride;
        v = k + plain_stride;
        row = number * s.T;
        real = s.length == nullptr || s.length[b] > s.T ? s.T : s.length[b];
        causal = s.causal;
    }
    // Of real queries.
    __device__ bool sees(std::int64_t query, std::int64_t key) const { return key < real && (!causal || key <= query); }
};

// kRows rows (queries or keys) of heads of up to kCols values, stored (kRows, kCols) with one float more a row, which
// keeps walks down a column free of bank conflicts; and weights (kRows, kRows), likewise.
template <int kRowCount, int kColCount>
struct HeadTile {
    static constexpr int kRows = kRowCount, kCols = kColCount;
    static constexpr int kStride = kCols + 1, kSize = kRows * kStride;
    static constexpr int kWeightStride = kRows + 1, kWeights = kRows * kWeightStride;
    static constexpr int kRowsOfThread = kRows / kTileEdge, kColsOfThread = kCols / kTileEdge;

    // The i-th row and j-th column of this thread.
    static __device__ int row(int i) { return static_cast<int>(threadIdx.x) / kTileEdge + kTileEdge * i; }
    static __device__ int col(int j) { return static_cast<int>(threadIdx.x) % kTileEdge + kTileEdge * j; }
    // Where the thread's weight (i, j) is stored.
    static __device__ int weight(int i, int j) { return row(i) * kWeightStride + col(j); }
};

// tile = rows [first, first + kRows) of a head, zero past the real ones and past column d.
template <class Tile, class Real>
__device__ inline void load_tile(float* tile, const Real* rows, std::int64_t stride, std::int64_t first,
                                 std::int64_t real, std::int64_t d) {
    for (int i = static_cast<int>(threadIdx.x); i < Tile::kRows * Tile::kCols; i += kTileThreads) {
        const int row = i / Tile::kCols, col = i % Tile::kCols;
        const bool inside = first + row < real && col < d;
        tile[row * Tile::kStride + col] = inside ? to_float(rows[(first + row) * stride + col]) : 0.0f;
    }
}

// rows [first, first + kRows) of a head = the threads' values, up to row T and column d.
template <class Tile, class Real>
__device__ inline void store_tile(Real* rows, std::int64_t stride, std::int64_t first,
                                  const float (&values)[Tile::kRowsOfThread][Tile::kColsOfThread],
                                  const AttentionShape& s) {
    for (int i = 0; i < Tile::kRowsOfThread; ++i)
        for (int j = 0; j < Tile::kColsOfThread; ++j) {
            const std::int64_t row = first + Tile::row(i);
            if (row < s.T && Tile::col(j) < s.d) rows[row * stride + Tile::col(j)] = from_float<Real>(values[i][j]);
        }
}

// sums (rows of a, rows of b) += a b^T.
template <class Tile>
__device__ inline void add_row_products(float (&sums)[Tile::kRowsOfThread][Tile::kRowsOfThread], const float* a,
                                        const float* b) {
    constexpr int kItems = Tile::kRowsOfThread, kApart = kTileEdge * Tile::kStride;
    a += Tile::row(0) * Tile::kStride;
    b += Tile::col(0) * Tile::kStride;
    for (int c = 0; c < Tile::kCols; ++c) {
        float of_a[kItems], of_b[kItems];
        for (int i = 0; i < kItems; ++i) of_a[i] = a[i * kApart + c];
        for (int j = 0; j < kItems; ++j) of_b[j] = b[j * kApart + c];
        for (int i = 0; i < kItems; ++i)
            for (int j = 0; j < kItems; ++j) sums[i][j] += of_a[i] * of_b[j];
    }
}

// sums (kRows, kCols) += weights tile, or weights^T tile.
template <class Tile, bool kTransposed>
__device__ inline void add_weighted(float (&sums)[Tile::kRowsOfThread][Tile::kColsOfThread], const float* weights,
                                    const float* tile) {
    constexpr int kItems = Tile::kRowsOfThread, kCols = Tile::kColsOfThread;
    constexpr int kStep = kTransposed ? Tile::kWeightStride : 1;  // from one summed index to the next
    constexpr int kApart = kTransposed ? kTileEdge : kTileEdge * Tile::kWeightStride;  // from one own row to the next
    weights += Tile::row(0) * (kTransposed ? 1 : Tile::kWeightStride);
    tile += Tile::col(0);
    for (int r = 0; r < Tile::kRows; ++r) {
        float weight[kItems], value[kCols];
        for (int i = 0; i < kItems; ++i) weight[i] = weights[r * kStep + i * kApart];
        for (int j = 0; j < kCols; ++j) value[j] = tile[r * Tile::kStride + kTileEdge * j];
        for (int i = 0; i < kItems; ++i)
            for (int j = 0; j < kCols; ++j) sums[i][j] += weight[i] * value[j];
    }
}
template <class Tile>
__device__ inline void add_weighted_rows(float (&sums)[Tile::kRowsOfThread][Tile::kColsOfThread], const float* weights,
                                         const float* tile) {
    add_weighted<Tile, false>(sums, weights, tile);
}
template <class Tile>
__device__ inline void add_weighted_columns(float (&sums)[Tile::kRowsOfThread][Tile::kColsOfThread],
                                            const float* weights, const float* tile) {
    add_weighted<Tile, true>(sums, weights, tile);
}

// Over the 16 threads of a row; every one gets the result. NaN is left out of the maximum.
__device__ inline float row_max(float value) {
    for (int distance = kTileEdge / 2; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(kWholeWarp, value, distance));
    return value;
}
__device__ inline float row_sum(float value) {
    for (int distance = kTileEdge / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    return value;
}

}  // namespace deft::kernels::cuda
