#pragma once
// Tiles of attention in shared memory, and their products in registers. 256 threads form a 16 x 16 grid: thread (y, x)
// owns rows y, y + 16, ... and columns x, x + 16, ... of every result, so that a row belongs to one half warp.

#include <cstdint>

#include "kernels/attention.h"
#include "kernels/bf16.h"
#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

inline constexpr int kTileEdge = 16, kTileThreads = kTileEdge * kTileEdge;
// Blocks of a multiprocessor, at least: where the compiler aims at more it spills registers.
inline constexpr int kTileBlocks = 2;

// One head of queries of one sample: the number of its queries and keys without padding, and how far past a query's own
// number the keys that it sees go. In 32 bits, of which registers hold more.
struct Head {
    std::int32_t b, h, queries, keys, reach;

    __device__ Head(const AttentionSpec& s, std::int64_t sample, std::int64_t head)
        : b(static_cast<std::int32_t>(sample)),
          h(static_cast<std::int32_t>(head)),
          queries(static_cast<std::int32_t>(s.real(sample, s.Tq))),
          keys(static_cast<std::int32_t>(s.real(sample, s.Tk))),
          reach(s.causal ? static_cast<std::int32_t>(s.offset()) : 1 << 30) {}

    // In (B, Tq, H, d), or in packed rows.
    __device__ std::int64_t plain(const AttentionSpec& s) const { return (s.first_row(b, s.Tq) * s.H + h) * s.d; }
    __device__ std::int64_t row(const AttentionSpec& s) const { return (b * s.H + h) * s.Tq; }  // (B, H, Tq)
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
__device__ inline void load_tile(float* tile, const Real* rows, std::int64_t stride, std::int32_t first,
                                 std::int32_t real, std::int64_t d) {
    for (int i = static_cast<int>(threadIdx.x); i < Tile::kRows * Tile::kCols; i += kTileThreads) {
        const int row = i / Tile::kCols, col = i % Tile::kCols;
        const bool inside = first + row < real && col < d;
        tile[row * Tile::kStride + col] = inside ? to_float(rows[std::int64_t{first + row} * stride + col]) : 0.0f;
    }
}

// rows [first, first + kRows) of a head = the threads' values, up to row T and column d.
template <class Tile, class Real>
__device__ inline void store_tile(Real* rows, std::int64_t stride, std::int32_t first,
                                  const float (&values)[Tile::kRowsOfThread][Tile::kColsOfThread], std::int64_t T,
                                  std::int64_t d) {
    for (int i = 0; i < Tile::kRowsOfThread; ++i)
        for (int j = 0; j < Tile::kColsOfThread; ++j) {
            const std::int64_t row = first + Tile::row(i);
            if (row < T && Tile::col(j) < d) rows[row * stride + Tile::col(j)] = from_float<Real>(values[i][j]);
        }
}

// Kernels with dropout of probabilities are separate, so that the plain ones keep their registers.
enum class Extras : bool { none = false, some = true };

// Whether a query, which may lie past the last, sees a key.
__device__ inline bool sees(const Head& head, std::int32_t query, std::int32_t key) {
    return key < head.keys && key <= query + head.reach;
}

// Which of this thread's probabilities of a tile stay, one bit each: entry (i, j) is bit i kRowsOfThread + j. As bits,
// the draws are done before the products' registers are in use.
template <class Tile>
__device__ inline std::uint32_t kept_probabilities(const AttentionDropout& dropout, const Head& head, std::int32_t q0,
                                                   std::int32_t k0) {
    static_assert(AttentionDropout::kApart == kTileEdge);
    constexpr int kItems = Tile::kRowsOfThread, kWords = 4;
    static_assert(kItems * kItems <= 32 && kWords % kItems == 0);
    if (dropout.p == 0) return 0xFFFFFFFFu;
    const bool is_later_half = k0 / kTileEdge % kWords != 0;  // of a tile of half a group of keys
    const std::uint32_t threshold = dropout.threshold();
    std::uint32_t kept = 0;
    for (int i = 0; i < kItems; ++i) {
        const PhiloxBlock block =
            dropout.block(head.b, head.h, q0 + Tile::row(i), AttentionDropout::block_of(k0 + Tile::col(0)));
        for (int j = 0; j < kItems; ++j) {
            const std::uint32_t word = is_later_half ? block.word[(j + kWords - kItems) % kWords] : block.word[j];
            kept |= (word < threshold ? 0u : 1u) << (i * kItems + j);
        }
    }
    return kept;
}
template <class Tile>
__device__ inline float dropout_factor(std::uint32_t kept, int i, int j, float scale) {
    return (kept >> (i * Tile::kRowsOfThread + j) & 1u) != 0 ? scale : 0.0f;
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
