#include "kernels/cpu/cpu.h"

#include "kernels/cpu/activation.h"
#include "kernels/cpu/few_rows.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/wide_vectors.h"
#include "kernels/cpu/workspace.h"

namespace deft::kernels::cpu {

namespace {

// Adds the bias to a tile of z (rows, out), and writes its activation to y, which may be z.
void finish_forward(const Tile& tile, float* y, float* z, const float* bias, std::int64_t out, Activation act) {
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
void multiply_derivative(const Tile& tile, float* dx, const float* pre, std::int64_t in, Activation act) {
    for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
        float* dx_row = dx + row * in + tile.col;
        activation_backward_row(dx_row, dx_row, pre + row * in + tile.col, tile.cols, act);
    }
}

// Bias gradients are summed by blocks of columns, wide enough to read memory in streams, over rows in segments: fixed
// order, short chains.
constexpr std::int64_t kBiasCols = 256, kBiasSegment = 128;

// dbias[first, first + cols) = or += column sums of dy (rows, out).
void sum_columns(float* dbias, const float* dy, std::int64_t rows, std::int64_t out, std::int64_t first,
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
constexpr std::int64_t kPackedRows = 512;

std::int64_t packed_leading(const TileGrid& grid) {
    return grid.tile_rows + kLinePadding;
}

// One tile of dw (out, in), from copies of dy's columns that do not collide; packed (kPackedRows, packed_leading).
void weight_tile_of_copies(const Tile& tile, float* dw, const float* dy, const float* x, std::int64_t rows,
                           std::int64_t in, std::int64_t out, float beta, float* packed, std::int64_t leading) {
    float* c = dw + tile.row * in + tile.col;
    for (std::int64_t first = 0; first < rows; first += kPackedRows) {
        const std::int64_t count = std::min(kPackedRows, rows - first);
        for (std::int64_t row = 0; row < count; ++row)
            std::copy_n(dy + (first + row) * out + tile.row, tile.rows, packed + row * leading);
        gemm_tile(c, in, {packed, leading, true}, {x + first * in + tile.col, in}, tile.rows, tile.cols, count,
                  first == 0 ? beta : 1.0f);
    }
}

}  // namespace

void linear_forward(Exec& exec, float* y, float* pre, const float* x, const float* w, const float* bias,
                    std::int64_t rows, std::int64_t in, std::int64_t out, Activation act) {
    if (rows <= kFewRows) return linear_of_few_rows(exec, y, pre, x, w, bias, rows, in, out, act);
    const Operand x_operand{x, in};           // (rows, in)
    const Operand w_transposed{w, in, true};  // (in, out)
    float* z = pre == nullptr ? y : pre;      // (rows, out)
    gemm(exec, z, out, x_operand, w_transposed, rows, out, in, 0.0f,
         [&](const Tile& tile) { widest_vectors([&] { finish_forward(tile, y, z, bias, out, act); }); });
}

void linear_backward_input(Exec& exec, float* dx, const float* dy, const float* w, const float* pre, std::int64_t rows,
                           std::int64_t in, std::int64_t out, Activation act, Accumulate accumulate) {
    const Operand dy_operand{dy, out};  // (rows, out)
    const Operand w_operand{w, in};     // (out, in)
    const bool adds = accumulate == Accumulate::yes;
    if (act == Activation::none || !adds) {
        gemm(exec, dx, in, dy_operand, w_operand, rows, in, out, adds ? 1.0f : 0.0f, [&](const Tile& tile) {
            if (act != Activation::none) widest_vectors([&] { multiply_derivative(tile, dx, pre, in, act); });
        });
        return;
    }
    // What is added waits for its factor in a tile beside dx.
    require_workspace(exec, linear_backward_input_workspace(exec.threads, rows, in, act, accumulate),
                      "linear_backward_input");
    const TileGrid grid(rows, in);
    parallel_items(exec.threads, grid.size(), [&](std::int64_t item, int thread) {
        const Tile tile = grid[item];
        float* product = scratch<float>(exec, static_cast<std::size_t>(thread) *
                                                  scratch_bytes<float>(most_tile_values(rows, in)));  // (rows, cols)
        gemm_tile(product, tile.cols, dy_operand.from_row(tile.row), w_operand.from_col(tile.col), tile.rows,
                  tile.cols, out, 0.0f);
        widest_vectors([&] {
            for (std::int64_t row = 0; row < tile.rows; ++row) {
                const std::int64_t at = (tile.row + row) * in + tile.col;
                add_activation_backward_row(dx + at, product + row * tile.cols, pre + at, tile.cols, act);
            }
        });
    });
}

std::size_t linear_backward_input_workspace(int threads, std::int64_t rows, std::int64_t in, Activation act,
                                            Accumulate accumulate) {
    if (act == Activation::none || accumulate == Accumulate::no) return 0;
    return static_cast<std::size_t>(threads) * scratch_bytes<float>(most_tile_values(rows, in));
}

void linear_backward_weight(Exec& exec, float* dw, float* dbias, const float* dy, const float* x, std::int64_t rows,
                            std::int64_t in, std::int64_t out, Accumulate accumulate) {
    const Operand dy_transposed{dy, out, true};  // (out, rows)
    const Operand x_operand{x, in};              // (rows, in)
    const float beta = accumulate == Accumulate::yes ? 1.0f : 0.0f;
    const TileGrid grid(out, in);
    const std::int64_t bias_blocks = dbias == nullptr ? 0 : ceil_div(out, kBiasCols);
    const bool copies = rows > 0 && rows_collide(out);
    require_workspace(exec, linear_backward_weight_workspace(exec.threads, rows, in, out), "linear_backward_weight");
    // Every tile takes its share of the bias with it, so that threads finish together.
    const std::int64_t tiles = grid.size();
    parallel_items(exec.threads, tiles, [&](std::int64_t item, int thread) {
        for (std::int64_t block = item * bias_blocks / tiles; block < (item + 1) * bias_blocks / tiles; ++block) {
            const std::int64_t first = block * kBiasCols;
            sum_columns(dbias, dy, rows, out, first, std::min(kBiasCols, out - first), accumulate);
        }
        if (copies) {
            const std::int64_t leading = packed_leading(grid);
            float* packed = scratch<float>(
                exec, static_cast<std::size_t>(thread) * scratch_bytes<float>(std::min(rows, kPackedRows) * leading));
            weight_tile_of_copies(grid[item], dw, dy, x, rows, in, out, beta, packed, leading);
        } else {
            gemm_tile(grid[item], dw, in, dy_transposed, x_operand, rows, beta);
        }
    });
}

// Column sums are kept on the stack.
std::size_t linear_backward_weight_workspace(int threads, std::int64_t rows, std::int64_t in, std::int64_t out) {
    if (!rows_collide(out)) return 0;
    return static_cast<std::size_t>(threads) *
           scratch_bytes<float>(std::min(rows, kPackedRows) * packed_leading(TileGrid(out, in)));
}

}  // namespace deft::kernels::cpu
