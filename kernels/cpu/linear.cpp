#include "kernels/cpu/linear.h"

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vector_math.h"

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
        if (act == Activation::gelu) {
#pragma omp simd
            for (std::int64_t i = 0; i < tile.cols; ++i) y_row[i] = gelu(z_row[i]);
        } else if (y != z) {
            std::copy_n(z_row, tile.cols, y_row);
        }
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

}  // namespace

void linear_forward(Exec& exec, float* y, float* pre, const float* x, const float* w, const float* bias,
                    std::int64_t rows, std::int64_t in, std::int64_t out, Activation act) {
    const Operand x_operand{x, in};           // (rows, in)
    const Operand w_transposed{w, in, true};  // (in, out)
    float* z = pre == nullptr ? y : pre;      // (rows, out)
    gemm(exec, z, out, x_operand, w_transposed, rows, out, in, 0.0f,
         [&](const Tile& tile) { finish_forward(tile, y, z, bias, out, act); });
}

void linear_backward_input(Exec& exec, float* dx, const float* dy, const float* w, const float* pre, std::int64_t rows,
                           std::int64_t in, std::int64_t out, Activation act) {
    const Operand dy_operand{dy, out};  // (rows, out)
    const Operand w_operand{w, in};     // (out, in)
    gemm(exec, dx, in, dy_operand, w_operand, rows, in, out, 0.0f, [&](const Tile& tile) {
        if (act == Activation::none) return;
        for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
            float* dx_row = dx + row * in + tile.col;
            const float* pre_row = pre + row * in + tile.col;
#pragma omp simd
            for (std::int64_t i = 0; i < tile.cols; ++i) dx_row[i] *= gelu_derivative(pre_row[i]);
        }
    });
}

void linear_backward_weight(Exec& exec, float* dw, float* dbias, const float* dy, const float* x, std::int64_t rows,
                            std::int64_t in, std::int64_t out, Accumulate accumulate) {
    const Operand dy_transposed{dy, out, true};  // (out, rows)
    const Operand x_operand{x, in};              // (rows, in)
    const float beta = accumulate == Accumulate::yes ? 1.0f : 0.0f;
    const TileGrid grid(out, in);
    const std::int64_t bias_blocks = dbias == nullptr ? 0 : ceil_div(out, kBiasCols);
    parallel_items(exec.threads, grid.size() + bias_blocks, [&](std::int64_t item, int) {
        if (item < bias_blocks) {
            const std::int64_t first = item * kBiasCols;
            sum_columns(dbias, dy, rows, out, first, std::min(kBiasCols, out - first), accumulate);
        } else {
            gemm_tile(grid[item - bias_blocks], dw, in, dy_transposed, x_operand, rows, beta);
        }
    });
}

// Column sums are kept on the stack.
std::size_t linear_backward_weight_workspace(std::int64_t, std::int64_t, std::int64_t) {
    return 0;
}

}  // namespace deft::kernels::cpu
