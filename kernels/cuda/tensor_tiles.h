#pragma once
// Tiles of bf16 in shared memory that feed tensor cores: where their values are, how they are copied there, and
// products of them in registers. Included by .cu sources alone.
//
// A warp holds 16 rows of a product at a time as fragments (PTX ISA 8.0, "Matrix fragments for mma.m16n8k16"): lane l
// has the rows l / 4 and l / 4 + 8, and of every eight columns 2 (l % 4) and the next.

#include <cstdint>

#include "kernels/bf16.h"
#include "kernels/device.h"

namespace deft::kernels::cuda {

inline constexpr int kPiece = 8;  // values of the 16 bytes that are moved at once
// Values from one row to the next, at most: offsets in a tile of 128 rows have 32 bits.
inline constexpr std::int64_t kMostRowStride = 1 << 24;

// Rows of kWidth values without padding. The pieces of a row change places by its number, so that the same piece of
// eight rows that follow each other is in eight different groups of banks. XOR of a piece's place with 16 k moves 2 k
// pieces on.
template <int kWidth>
__device__ inline int swizzle(int row) {
    constexpr int kPieces = kWidth / kPiece;
    return kPieces >= 8 ? row % 8 : row / (8 / kPieces) % kPieces;
}

// The part of copies to tiles that this thread does: one column of pieces, in every kStep-th row from its own first one
// on.
template <int kWidth, int kThreads>
struct TileCopier {
    static constexpr int kPieces = kWidth / kPiece, kStep = kThreads / kPieces;
    static_assert(kStep % 8 == 0);  // its rows share a swizzle
    int row, column, place;

    __device__ TileCopier()
        : row(static_cast<int>(threadIdx.x) / kPieces),
          column(static_cast<int>(threadIdx.x) % kPieces * kPiece),
          place(row * kWidth + (column / kPiece ^ swizzle<kWidth>(row)) * kPiece) {}

    // This thread's first piece of rows that begin at `from` and are `stride` apart.
    __device__ const bf16* own(const bf16* from, int stride) const { return from + row * stride + column; }
    // How many rows there are from its own on, of rows with `width` values: none where its column is past them.
    __device__ int rows_left(int rows, int width) const { return column < width ? rows - row : -(1 << 30); }

    // tile (kRows, kWidth) = the first `rows` of the rows that begin at `from`, `width` values of each; zero past them.
    template <int kRows>
    __device__ __forceinline__ void copy_rows(AsyncCopies& copies, SharedAddress tile, const bf16* from, int stride,
                                              int rows, int width) const {
        copy<kRows>(copies, tile, own(from, stride), stride, rows_left(rows, width));
    }

    // tile (kRows, kWidth) = rows at `own`, zero past those that are left.
    template <int kRows>
    __device__ __forceinline__ void copy(AsyncCopies& copies, SharedAddress tile, const bf16* own, int stride,
                                         int left) const {
        static_assert(kRows % kStep == 0);
        DEFT_UNROLL
        for (int i = 0; i < kRows / kStep; ++i)
            copies.copy_16_bytes(tile + (place + i * kStep * kWidth), own + i * kStep * stride, i * kStep < left);
    }
};

// Where the row that this lane names to ldmatrix begins in a tile, for the first 16 columns; those of 16 k later are at
// the place XOR 16 k.
template <int kWidth>
struct FragmentPlaces {
    int rows;     // a (16, 16) of a tile that is stored as the product reads it; also b, transposed, of a tile (k, n)
    int columns;  // b (16, 16) of a tile (n, k); also a, transposed, of a tile (k, m)

    __device__ FragmentPlaces() {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int row = lane % 16, column_row = lane % 8 + lane / 16 * 8;
        rows = row * kWidth + (lane / 16 ^ swizzle<kWidth>(row)) * kPiece;
        columns = column_row * kWidth + (lane / 8 % 2 ^ swizzle<kWidth>(column_row)) * kPiece;
    }
};

// Columns 16 n to 16 n + 15 of sums (16 kUp, 8 kTiles) += a (16 kUp, 16) b (16, 16).
template <int kUp, int kTiles>
__device__ __forceinline__ void add_products(float (&sums)[kUp][kTiles][4], int n, const unsigned (&a)[kUp][4],
                                             const unsigned (&b)[4]) {
    DEFT_UNROLL
    for (int u = 0; u < kUp; ++u) {
        mma_m16n8k16(sums[u][2 * n], a[u], b[0], b[1]);
        mma_m16n8k16(sums[u][2 * n + 1], a[u], b[2], b[3]);
    }
}

// The 16 kUp rows of a tile that a warp multiplies again and again. They stay in registers, or a kernel whose registers
// are full reads them from shared memory for each product.
enum class RowsOfTile { in_registers, in_shared_memory };
template <int kWidth, int kUp, RowsOfTile kRowsAre>
struct WarpRows {
    static constexpr bool kKept = kRowsAre == RowsOfTile::in_registers;
    SharedAddress first;
    unsigned kept[kKept ? kUp : 1][kWidth / 16][4];

    __device__ explicit WarpRows(SharedAddress first_row) : first(first_row) {}
    // Reads the rows that stay, once their tile has arrived.
    __device__ __forceinline__ void keep(const FragmentPlaces<kWidth>& at) {
        if constexpr (kKept) {
            DEFT_UNROLL
            for (int k = 0; k < kWidth / 16; ++k) DEFT_UNROLL
            for (int u = 0; u < kUp; ++u) ldmatrix_x4(kept[u][k], first + ((at.rows ^ 16 * k) + 16 * u * kWidth));
        }
    }
    // a (16 kUp, 16): columns 16 k to 16 k + 15.
    __device__ __forceinline__ void fragments(unsigned (&a)[kUp][4], int k, const FragmentPlaces<kWidth>& at) const {
        DEFT_UNROLL
        for (int u = 0; u < kUp; ++u) {
            if constexpr (kKept) {
                DEFT_UNROLL
                for (int i = 0; i < 4; ++i) a[u][i] = kept[u][k][i];
            } else {
                ldmatrix_x4(a[u], first + ((at.rows ^ 16 * k) + 16 * u * kWidth));
            }
        }
    }
};

// sums (16 kUp, kCols) += rows (16 kUp, kWidth) tile^T, tile (kCols, kWidth).
template <int kCols, int kWidth, int kUp, RowsOfTile kRowsAre>
__device__ __forceinline__ void add_rows_products(float (&sums)[kUp][kCols / 8][4],
                                                  const WarpRows<kWidth, kUp, kRowsAre>& rows, SharedAddress tile,
                                                  const FragmentPlaces<kWidth>& at) {
    DEFT_UNROLL
    for (int k = 0; k < kWidth / 16; ++k) {
        unsigned a[kUp][4];
        rows.fragments(a, k, at);
        DEFT_UNROLL
        for (int n = 0; n < kCols / 16; ++n) {
            unsigned b[4];
            ldmatrix_x4(b, tile + ((at.columns ^ 16 * k) + 16 * n * kWidth));
            add_products(sums, n, a, b);
        }
    }
}

// sums (16 kUp, kWidth) += weights (16 kUp, kCols) tile, tile (kCols, kWidth). Weights are rounded to bf16 and stay in
// registers: the fragments of a result are those of a first factor.
template <int kWidth, int kUp, int kCols>
__device__ __forceinline__ void add_weighted_rows(float (&sums)[kUp][kWidth / 8][4],
                                                  const float (&weights)[kUp][kCols / 8][4], SharedAddress tile,
                                                  const FragmentPlaces<kWidth>& at) {
    DEFT_UNROLL
    for (int k = 0; k < kCols / 16; ++k) {
        unsigned a[kUp][4];
        DEFT_UNROLL
        for (int u = 0; u < kUp; ++u) DEFT_UNROLL
        for (int i = 0; i < 4; ++i) {
            const float(&pairs)[4] = weights[u][2 * k + i / 2];
            a[u][i] = pack_bf16(pairs[i % 2 * 2], pairs[i % 2 * 2 + 1]);
        }
        DEFT_UNROLL
        for (int n = 0; n < kWidth / 16; ++n) {
            unsigned b[4];
            ldmatrix_x4_transposed(b, tile + ((at.rows ^ 16 * n) + 16 * k * kWidth));
            add_products(sums, n, a, b);
        }
    }
}

// Two rows of a result, 8 apart, that this lane holds parts of: rows + row stride receives values factor, where the row
// lies before `end`; `width` of their kWidth columns are stored.
template <int kWidth>
__device__ __forceinline__ void store_fragments(bf16* rows, int stride, int row, const float (&values)[kWidth / 8][4],
                                                float factor, float later_factor, int end, int width) {
    const int column = 2 * (static_cast<int>(threadIdx.x) % 4);
    bf16* mine = rows + std::int64_t{row} * stride + column;
    DEFT_UNROLL
    for (int n = 0; n < kWidth / 8; ++n) {
        if (8 * n + column >= width) continue;
        if (row < end)
            *reinterpret_cast<unsigned*>(mine + 8 * n) = pack_bf16(values[n][0] * factor, values[n][1] * factor);
        if (row + 8 < end)
            *reinterpret_cast<unsigned*>(mine + 8 * n + 8 * stride) =
                pack_bf16(values[n][2] * later_factor, values[n][3] * later_factor);
    }
}

}  // namespace deft::kernels::cuda
