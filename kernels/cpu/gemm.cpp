#include "kernels/cpu/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <string>

#include "base/error.h"

namespace deft::kernels::cpu {

namespace {

// Tiles large enough to pay for the library's packing, small enough that a tile stays in the L2 cache for its epilogue.
constexpr std::int64_t kTileRows = 256, kTileCols = 512;
constexpr std::int64_t kGroupTileRows = 320;
constexpr std::int64_t kGrain = 16;  // tile edges fall on multiples of the widest vector

std::int64_t even_cut(std::int64_t extent, std::int64_t pieces) {
    return std::max(kGrain, ceil_div(ceil_div(extent, pieces), kGrain) * kGrain);
}

}  // namespace

std::string gemm_library() {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
}

bool products_use_avx512() {
    static const bool uses = (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
    return uses;
}

TileGrid::TileGrid(std::int64_t rows_, std::int64_t cols_) : rows(rows_), cols(cols_) {
    std::int64_t down = std::max<std::int64_t>(1, ceil_div(rows, kTileRows));
    std::int64_t across = std::max<std::int64_t>(1, ceil_div(cols, kTileCols));
    // An even number of tiles, so that two threads finish together.
    if (down * across % 2 != 0) ++(rows >= cols ? down : across);
    tile_rows = even_cut(rows, down);
    tile_cols = even_cut(cols, across);
}

TileGrid TileGrid::of_group(std::int64_t rows, std::int64_t cols) {
    TileGrid grid(rows, cols);
    grid.tile_rows = even_cut(rows, std::max<std::int64_t>(1, ceil_div(rows, kGroupTileRows)));
    grid.tile_cols = even_cut(cols, std::max<std::int64_t>(1, ceil_div(cols, kTileCols)));
    return grid;
}

std::int64_t most_tile_values(std::int64_t rows, std::int64_t cols) {
    return std::min(kTileRows, even_cut(rows, 1)) * std::min(kTileCols, even_cut(cols, 1));
}

void gemm_tile(float* c, std::int64_t ldc, const Operand& a, const Operand& b, std::int64_t m, std::int64_t n,
               std::int64_t k, float beta) {
    if (m == 0 || n == 0) return;
    if (k == 0) {  // an empty sum
        for (std::int64_t row = 0; row < m; ++row)
            for (std::int64_t col = 0; col < n; ++col) {
                float& value = c[row * ldc + col];
                value = beta == 0 ? 0 : beta * value;
            }
        return;
    }
    const dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, 1.0f, a.data,
                                            a.leading, b.data, b.leading, beta, c, ldc);
    if (status == dnnl_success) return;
    throw Error(status == dnnl_out_of_memory ? ErrorKind::memory : ErrorKind::config,
                "dnnl_sgemm failed with status " + std::to_string(static_cast<int>(status)) + " for m " +
                    std::to_string(m) + ", n " + std::to_string(n) + ", k " + std::to_string(k));
}

}  // namespace deft::kernels::cpu
