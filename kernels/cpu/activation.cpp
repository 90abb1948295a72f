#include "kernels/cpu/activation.h"

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/wide_vectors.h"

namespace deft::kernels::cpu {

namespace {

// body(row) for all rows, in blocks of about 16,000 values.
template <class Body>
void parallel_activation_rows(int threads, std::int64_t rows, std::int64_t cols, const Body& body) {
    const std::int64_t block_rows = std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, cols));
    parallel_items(threads, ceil_div(rows, block_rows), [&](std::int64_t block, int) {
        const std::int64_t end = std::min(rows, (block + 1) * block_rows);
        widest_vectors([&] {
            for (std::int64_t row = block * block_rows; row < end; ++row) body(row);
        });
    });
}

}  // namespace

template <>
void activation_forward(Exec& exec, float* y, const float* pre, std::int64_t rows, std::int64_t cols, Activation act) {
    parallel_activation_rows(exec.threads, rows, cols, [&](std::int64_t row) {
        float* y_row = y + row * cols;
        const float *gate = pre + row * columns_before(act, cols), *up = gate + cols;
        if (act != Activation::swiglu) return activate_row(y_row, gate, cols, act);
#pragma omp simd
        for (std::int64_t i = 0; i < cols; ++i) y_row[i] = gate[i] * sigmoid(gate[i]) * up[i];
    });
}

template <>
void activation_backward(Exec& exec, float* dpre, const float* dy, const float* pre, std::int64_t rows,
                         std::int64_t cols, Activation act) {
    parallel_activation_rows(exec.threads, rows, cols, [&](std::int64_t row) {
        const std::int64_t first = row * columns_before(act, cols);
        const float *dy_row = dy + row * cols, *gate = pre + first, *up = gate + cols;
        float *dgate = dpre + first, *dup = dgate + cols;
        if (act != Activation::swiglu) return activation_backward_row(dgate, dy_row, gate, cols, act);
            // silu = x s and silu' = s (1 + x (1 - s)), s = 1 / (1 + e^-x).
#pragma omp simd
        for (std::int64_t i = 0; i < cols; ++i) {
            const float s = sigmoid(gate[i]);
            dgate[i] = dy_row[i] * up[i] * (s * (1.0f + gate[i] * (1.0f - s)));
            dup[i] = dy_row[i] * (gate[i] * s);
        }
    });
}

}  // namespace deft::kernels::cpu
