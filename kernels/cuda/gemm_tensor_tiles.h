#pragma once
// One tile of a matrix product in bf16 on tensor cores, made by a block; included by .cu sources alone.

#include <cstdint>

#include "kernels/cuda/tensor_tiles.h"

namespace deft::kernels::cuda {

// A tile is kTensorTile x kTensorTile; a warp makes a quarter of it. kTensorDepth of k at a time, kTensorStages of them
// in shared memory: all but one arrive while that one is read.
inline constexpr int kTensorTile = 128, kTensorDepth = 32, kTensorStages = 4, kTensorWarps = 4;
inline constexpr int kTensorThreads = 32 * kTensorWarps, kTensorBlocks = 2;  // of a multiprocessor, at least
inline constexpr std::size_t kTensorShared = sizeof(bf16) * 2 * kTensorStages * kTensorTile * kTensorDepth;

// In which index of the product a stored row runs: k, so that its rows are those of the result (columns, of the second
// factor); or the result's, so that its rows are k.
enum class Along { k, result };

// An operand: `results` rows (or columns) of the result and `depth` of k; stored rows are `leading` apart, a multiple
// of 8, and begin at multiples of 16 bytes. Along k, depth is a multiple of 8; along the result, the last row too has
// `leading` values, which may be read.
struct TensorOperand {
    const bf16* data;
    std::int32_t leading, results, depth;
};

// This thread's part of the copies of one operand, tile after tile along k.
template <Along kAlong>
struct OperandCopier {
    static constexpr bool kByK = kAlong == Along::k;
    static constexpr int kWidth = kByK ? kTensorDepth : kTensorTile, kHeight = kByK ? kTensorTile : kTensorDepth;
    TileCopier<kWidth, kTensorThreads> copier;
    const bf16* own;
    std::int32_t leading, rows, columns;  // that are left from this thread's own on

    __device__ OperandCopier(const TensorOperand& x, std::int32_t first)
        : own(copier.own(x.data + (kByK ? std::int64_t{first} * x.leading : first), x.leading)),
          leading(x.leading),
          rows((kByK ? x.results - first : x.depth) - copier.row),
          columns((kByK ? x.depth : x.results - first) - copier.column) {}

    __device__ __forceinline__ void fetch(AsyncCopies& copies, SharedAddress tile) {
        copier.template copy<kHeight>(copies, tile, own, leading, columns > 0 ? rows : 0);
        own += kByK ? kTensorDepth : std::int64_t{kTensorDepth} * leading;
        (kByK ? columns : rows) -= kTensorDepth;
    }
};

// The fragments of 16 rows of the first factor from row m0 on, at columns k to k + 16 of a tile.
template <Along kAlong>
__device__ __forceinline__ void load_first_factor(unsigned (&a)[4], SharedAddress tile, int m0, int k,
                                                  const FragmentPlaces<kTensorDepth>& along_k,
                                                  const FragmentPlaces<kTensorTile>& along_result) {
    if constexpr (kAlong == Along::k)
        ldmatrix_x4(a, tile + ((along_k.rows ^ k) + m0 * kTensorDepth));
    else
        ldmatrix_x4_transposed(a, tile + ((along_result.columns ^ m0) + k * kTensorTile));
}
// The fragments of 16 columns of the second factor from column n0 on.
template <Along kAlong>
__device__ __forceinline__ void load_second_factor(unsigned (&b)[4], SharedAddress tile, int n0, int k,
                                                   const FragmentPlaces<kTensorDepth>& along_k,
                                                   const FragmentPlaces<kTensorTile>& along_result) {
    if constexpr (kAlong == Along::k)
        ldmatrix_x4(b, tile + ((along_k.columns ^ k) + n0 * kTensorDepth));
    else
        ldmatrix_x4_transposed(b, tile + ((along_result.rows ^ n0) + k * kTensorTile));
}

// finish(row, column, sum, next) for every two neighbours of the tile of a (m, k) b (k, n) that begins at (first_row,
// first_column); column is even, and the second may be past the last. Each sum runs over k in order. All threads of the
// block take part.
template <Along kAlongOfA, Along kAlongOfB, class Finish>
__device__ inline void multiply_tile_on_tensor_cores(const TensorOperand& a, const TensorOperand& b,
                                                     std::int32_t first_row, std::int32_t first_column,
                                                     const Finish& finish) {
    constexpr int kTileValues = kTensorTile * kTensorDepth;
    DEFT_DYNAMIC_SHARED(bf16, shared);
    const SharedAddress a_tiles = shared_address(shared), b_tiles = a_tiles + kTensorStages * kTileValues;
    OperandCopier<kAlongOfA> of_a(a, first_row);
    OperandCopier<kAlongOfB> of_b(b, first_column);
    AsyncCopies copies;
    const int steps = (a.depth + kTensorDepth - 1) / kTensorDepth;
    int fetched = 0;
    const auto fetch = [&] {
        if (fetched < steps) {
            of_a.fetch(copies, a_tiles + fetched % kTensorStages * kTileValues);
            of_b.fetch(copies, b_tiles + fetched % kTensorStages * kTileValues);
        }
        ++fetched;
        copies.commit();
    };
    for (int i = 0; i < kTensorStages - 1; ++i) fetch();
    const FragmentPlaces<kTensorDepth> along_k;
    const FragmentPlaces<kTensorTile> along_result;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int m0 = warp / 2 * 64, n0 = warp % 2 * 64;
    float sums[4][8][4] = {};
    for (int step = 0; step < steps; ++step) {
        copies.template wait<kTensorStages - 2>();
        __syncthreads();
        fetch();
        const SharedAddress a_tile = a_tiles + step % kTensorStages * kTileValues;
        const SharedAddress b_tile = b_tiles + step % kTensorStages * kTileValues;
        DEFT_UNROLL
        for (int k = 0; k < kTensorDepth; k += 16) {
            unsigned of_rows[4][4];
            DEFT_UNROLL
            for (int u = 0; u < 4; ++u)
                load_first_factor<kAlongOfA>(of_rows[u], a_tile, m0 + 16 * u, k, along_k, along_result);
            DEFT_UNROLL
            for (int n = 0; n < 4; ++n) {
                unsigned of_columns[4];
                load_second_factor<kAlongOfB>(of_columns, b_tile, n0 + 16 * n, k, along_k, along_result);
                add_products(sums, n, of_rows, of_columns);
            }
        }
    }
    copies.template wait<0>();
    DEFT_UNROLL
    for (int u = 0; u < 4; ++u) DEFT_UNROLL
    for (int n = 0; n < 8; ++n) DEFT_UNROLL
    for (int i = 0; i < 4; i += 2) {
        const std::int32_t row = first_row + m0 + 16 * u + lane / 4 + i / 2 * 8;
        const std::int32_t column = first_column + n0 + 8 * n + 2 * (lane % 4);
        if (row < a.results && column < b.results) finish(row, column, sums[u][n][i], sums[u][n][i + 1]);
    }
}

}  // namespace deft::kernels::cuda
