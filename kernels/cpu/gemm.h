#pragma once
// Matrix products on a fixed grid of tiles. gemm.cpp alone knows which library multiplies.

#include <string>

#include "kernels/cpu/exec.h"
#include "kernels/cpu/parallel.h"

namespace deft::kernels::cpu {

// "oneDNN 2.6.3"
std::string gemm_library();

// Whether products run on AVX-512 here: the processor has it, and the library's settings do not disable it (oneDNN:
// DNNL_MAX_CPU_ISA).
bool products_use_avx512();

// A row-major operand; `leading` is the distance between stored rows. transposed: the product uses its transpose.
struct Operand {
    const float* data;
    std::int64_t leading;
    bool transposed = false;

    // The operand from row (or, if cols, column) `first` of the matrix that the product sees.
    Operand from_row(std::int64_t first) const {
        return {data + (transposed ? first : first * leading), leading, transposed};
    }
    Operand from_col(std::int64_t first) const {
        return {data + (transposed ? first * leading : first), leading, transposed};
    }
};

// Whether rows `leading` floats apart share so few sets of the L1 cache that the library's packing of a transposed
// operand evicts what it has just read: multiples of 2 KiB do.
inline bool rows_collide(std::int64_t leading) {
    return leading % 512 == 0;
}
inline constexpr std::int64_t kLinePadding = 16;  // floats of a cache line: what parts rows that would collide

// c (m, n) = a (m, k) b (k, n) + beta c on the calling thread alone, which must be inside a WorkerScope.
void gemm_tile(float* c, std::int64_t ldc, const Operand& a, const Operand& b, std::int64_t m, std::int64_t n,
               std::int64_t k, float beta);

// One rectangle of the result.
struct Tile {
    std::int64_t row, col, rows, cols;
};

// How a result is cut: a function of its shape only.
struct TileGrid {
    std::int64_t rows, cols, tile_rows, tile_cols;

    TileGrid(std::int64_t rows, std::int64_t cols);
    // Grid for one of several products that share the threads: the fewest tiles, each a little taller. A product with
    // slightly more rows than an equal share is then not packed twice.
    static TileGrid of_group(std::int64_t rows, std::int64_t cols);
    std::int64_t size() const { return ceil_div(rows, tile_rows) * ceil_div(cols, tile_cols); }
    Tile operator[](std::int64_t i) const {
        const std::int64_t across = ceil_div(cols, tile_cols);
        const std::int64_t row = i / across * tile_rows, col = i % across * tile_cols;
        return {row, col, std::min(tile_rows, rows - row), std::min(tile_cols, cols - col)};
    }
};

// The most values that a tile of such a result has; of fewer rows or columns it is not more.
std::int64_t most_tile_values(std::int64_t rows, std::int64_t cols);

// One tile of c = a b + beta c.
inline void gemm_tile(const Tile& tile, float* c, std::int64_t ldc, const Operand& a, const Operand& b, std::int64_t k,
                      float beta) {
    gemm_tile(c + tile.row * ldc + tile.col, ldc, a.from_row(tile.row), b.from_col(tile.col), tile.rows, tile.cols, k,
              beta);
}

// c (m, n) = a (m, k) b (k, n) + beta c, then epilogue(tile) while the tile is in cache.
template <class Epilogue>
void gemm(Exec& exec, float* c, std::int64_t ldc, const Operand& a, const Operand& b, std::int64_t m, std::int64_t n,
          std::int64_t k, float beta, const Epilogue& epilogue) {
    const TileGrid grid(m, n);
    parallel_items(exec.threads, grid.size(), [&](std::int64_t i, int) {
        const Tile tile = grid[i];
        gemm_tile(tile, c, ldc, a, b, k, beta);
        epilogue(tile);
    });
}

inline void gemm(Exec& exec, float* c, std::int64_t ldc, const Operand& a, const Operand& b, std::int64_t m,
                 std::int64_t n, std::int64_t k, float beta) {
    gemm(exec, c, ldc, a, b, m, n, k, beta, [](const Tile&) {});
}

}  // namespace deft::kernels::cpu
