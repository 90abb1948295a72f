#include "kernels/cpu/cpu.h"

#include "kernels/cpu/few_rows.h"
#include "kernels/cpu/linear_tiles.h"
#include "kernels/cpu/wide_vectors.h"
#include "kernels/cpu/workspace.h"

namespace deft::kernels::cpu {

template <>
void linear_forward(Exec& exec, float* y, float* pre, const float* x, const float* w, const float* bias,
                    std::int64_t rows, std::int64_t in, std::int64_t out, Activation act) {
    if (rows <= kFewRows) return linear_of_few_rows(exec, {y, pre, x, w, bias, rows, in, out, act});
    const Operand x_operand{x, in};           // (rows, in)
    const Operand w_transposed{w, in, true};  // (in, out)
    float* z = pre == nullptr ? y : pre;      // (rows, out)
    gemm(exec, z, out, x_operand, w_transposed, rows, out, in, 0.0f,
         [&](const Tile& tile) { widest_vectors([&] { finish_forward(tile, y, z, bias, out, act); }); });
}

template <>
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
    // The summand waits for its factor in a tile beside dx.
    require_workspace(exec, linear_backward_input_workspace(exec.threads, rows, in, act, accumulate),
                      "linear_backward_input");
    const TileGrid grid(rows, in);
    parallel_items(exec.threads, grid.size(), [&](std::int64_t item, int thread) {
        const Tile tile = grid[item];
        float* product = scratch<float>(
            exec, static_cast<std::size_t>(thread) * scratch_bytes<float>(most_tile_values(rows, in)));  // (rows, cols)
        gemm_tile(product, tile.cols, dy_operand.from_row(tile.row), w_operand.from_col(tile.col), tile.rows, tile.cols,
                  out, 0.0f);
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

template <>
void linear_backward_weight(Exec& exec, float* dw, float* dbias, const float* dy, const float* x, std::int64_t rows,
                            std::int64_t in, std::int64_t out, Accumulate accumulate) {
    require_workspace(exec, linear_backward_weight_workspace(exec.threads, rows, in, out), "linear_backward_weight");
    const WeightGradient gradient{dw, dbias, dy, x, rows, in, out, accumulate};
    parallel_items(exec.threads, gradient.grid().size(), [&](std::int64_t item, int thread) {
        gradient.write_tile(item, scratch<float>(exec, static_cast<std::size_t>(thread) *
                                                           linear_backward_weight_workspace(1, rows, in, out)));
    });
}

// Column sums are kept on the stack.
std::size_t linear_backward_weight_workspace(int threads, std::int64_t rows, std::int64_t in, std::int64_t out) {
    return static_cast<std::size_t>(threads) * scratch_bytes<float>(WeightGradient::packed_values(rows, in, out));
}

}  // namespace deft::kernels::cpu
