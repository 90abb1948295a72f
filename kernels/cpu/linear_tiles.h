#pragma once
// Tile-wise work of linear layers: after a product, and for the gradient of a weight.

#include <algorithm>

#include "kernels/cpu/activation.h"
#include "kernels/cpu/gemm.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// Adds the bias to a tile of z (rows, out), and writes its activation to y, which may be z.
inline void finish_forward(const Tile& tile, float* y, float* z, const float* bias, std::int64_t out, Activation act) {
    for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
        float *y_row = y + row * out + tile.col, *z_row = z + row * out + tile.col;
        if (bias != nullptr) {
            const float* b = bias + tile.col;
#pragma omp simd
            for (std::int64_t i = 0; i < tile.cols; ++i) z_row[i] += b[i];
        }
        if (act != Activation::none) {
            activate_row(y_row, z_row, tile.cols, act);
        } else if (y != z) {
            std::copy_n(z_row, tile.cols, y_row);
        }
    }
}

// Multiplies a tile of dx (rows, in) by the derivative at pre (rows, in).
inline void multiply_derivative(const Tile& tile, float* dx, const float* pre, std::int64_t in, Activation act) {
    for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
        float* dx_row = dx + row * in + tile.col;
        activation_backward_row(dx_row, dx_row, pre + row * in + tile.col, tile.cols, act);
    }
}

// Bias gradients are summed by blocks of columns, wide enough to read memory in streams, over rows in segments: fixed
// order, short chains.
inline constexpr std::int64_t kBiasCols = 256, kBiasSegment = 128;

// dbias[first, first + cols) = or += column sums of dy (rows, out).
inline void sum_columns(float* dbias, const float* dy, std::int64_t rows, std::int64_t out, std::int64_t first,
                        std::int64_t cols, Accumulate accumulate) {
    float total[kBiasCols] = {};
    for (std::int64_t start = 0; start < rows; start += kBiasSegment) {
        const std::int64_t end = std::min(rows, start + kBiasSegment);
        float segment[kBiasCols] = {};
        for (std::int64_t row = start; row < end; ++row) {
            const float* dy_row = dy + row * out + first;
#pragma omp simd
            for (std::int64_t i = 0; i < cols; ++i) segment[i] += dy_row[i];
        }
        for (std::int64_t i = 0; i < cols; ++i) total[i] += segment[i];
    }
    for (std::int64_t i = 0; i < cols; ++i)
        dbias[first + i] = (accumulate == Accumulate::yes ? dbias[first + i] : 0.0f) + total[i];
}

// Rows of dy that are copied at once: with a tile's columns about half of an L2 cache.
inline constexpr std::int64_t kPackedRows = 512;

inline std::int64_t packed_leading(const TileGrid& grid) {
    return grid.tile_rows + kLinePadding;
}

// dw (out, in) = or += dy^T x; dbias (out) or null = or += column sums of dy. dy (rows, out), x (rows, in).
struct WeightGradient {
    float *dw, *dbias;
    const float *dy, *x;
    std::int64_t rows, in, out;
    Accumulate accumulate;

    TileGrid grid() const { return {out, in}; }

    // Floats that write_tile() needs, of a thread.
    static std::int64_t packed_values(std::int64_t rows, std::int64_t in, std::int64_t out) {
        return rows_collide(out) ? std::min(rows, kPackedRows) * packed_leading(TileGrid(out, in)) : 0;
    }

    // Every tile takes its share of the bias with it, so that threads finish together. packed: packed_values.
    void write_tile(std::int64_t item, float* packed) const {
        const TileGrid tiles = grid();
        const std::int64_t blocks = dbias == nullptr ? 0 : ceil_div(out, kBiasCols);
        for (std::int64_t block = item * blocks / tiles.size(); block < (item + 1) * blocks / tiles.size(); ++block) {
            const std::int64_t first = block * kBiasCols;
            sum_columns(dbias, dy, rows, out, first, std::min(kBiasCols, out - first), accumulate);
        }
        const float beta = accumulate == Accumulate::yes ? 1.0f : 0.0f;
        if (rows > 0 && rows_collide(out))
            write_tile_of_copies(tiles[item], beta, packed, packed_leading(tiles));
        else
            gemm_tile(tiles[item], dw, in, {dy, out, true}, {x, in}, rows, beta);
    }

 private:
    // From copies of dy's columns that do not collide; packed (kPackedRows, leading).
    void write_tile_of_copies(const Tile& tile, float beta, float* packed, std::int64_t leading) const {
        float* c = dw + tile.row * in + tile.col;
        for (std::int64_t first = 0; first < rows; first += kPackedRows) {
            const std::int64_t count = std::min(kPackedRows, rows - first);
            for (std::int64_t row = 0; row < count; ++row)
                std::copy_n(dy + (first + row) * out + tile.row, tile.rows, packed + row * leading);
            gemm_tile(c, in, {packed, leading, true}, {x + first * in + tile.col, in}, tile.rows, tile.cols, count,
                      first == 0 ? beta : 1.0f);
        }
    }
};

}  // namespace deft::kernels::cpu
