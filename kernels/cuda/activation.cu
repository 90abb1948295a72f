#include "kernels/cuda/activation.h"

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

// y (rows, cols) = act(pre), or act(gate) up where pre has both.
template <class Real, int kWidth>
__global__ void activate_rows(Real* y, const Real* pre, std::int64_t rows, std::int64_t cols, Activation act) {
    const std::int64_t row = warp_row();
    if (row >= rows) return;
    const bool is_gated = act == Activation::swiglu;
    const Real* pre_row = pre + row * (is_gated ? 2 * cols : cols);
    for (std::int64_t col = warp_lane() * kWidth; col < cols; col += kWarpSize * kWidth) {
        float x[kWidth], up[kWidth] = {};
        load(x, pre_row + col);
        if (is_gated) load(up, pre_row + cols + col);
        for (int i = 0; i < kWidth; ++i) x[i] = is_gated ? activate(act, x[i]) * up[i] : activate(act, x[i]);
        store(y + row * cols + col, x);
    }
}

template <class Real, int kWidth>
__global__ void activate_rows_backward(Real* dpre, const Real* dy, const Real* pre, std::int64_t rows,
                                       std::int64_t cols, Activation act) {
    const std::int64_t row = warp_row();
    if (row >= rows) return;
    const bool is_gated = act == Activation::swiglu;
    const std::int64_t first = row * (is_gated ? 2 * cols : cols);
    for (std::int64_t col = warp_lane() * kWidth; col < cols; col += kWarpSize * kWidth) {
        float x[kWidth], g[kWidth], up[kWidth] = {}, dup[kWidth] = {};
        load(x, pre + first + col);
        load(g, dy + row * cols + col);
        if (is_gated) load(up, pre + first + cols + col);
        for (int i = 0; i < kWidth; ++i) {
            if (is_gated) dup[i] = g[i] * activate(act, x[i]);
            x[i] = (is_gated ? g[i] * up[i] : g[i]) * activation_derivative(act, x[i]);
        }
        store(dpre + first + col, x);
        if (is_gated) store(dpre + first + cols + col, dup);
    }
}

}  // namespace

template <class Real>
void activation_forward(Exec& exec, Real* y, const Real* pre, std::int64_t rows, std::int64_t cols, Activation act) {
    with_width<Real>(rows_are_wide<Real>(cols, y, pre), [&](auto width) {
        launch(exec, over_rows("activate_rows", rows), activate_rows<Real, width>, y, pre, rows, cols, act);
    });
}

template <class Real>
void activation_backward(Exec& exec, Real* dpre, const Real* dy, const Real* pre, std::int64_t rows, std::int64_t cols,
                         Activation act) {
    with_width<Real>(rows_are_wide<Real>(cols, dpre, dy, pre), [&](auto width) {
        launch(exec, over_rows("activate_rows_backward", rows), activate_rows_backward<Real, width>, dpre, dy, pre,
               rows, cols, act);
    });
}

template void activation_forward<float>(Exec&, float*, const float*, std::int64_t, std::int64_t, Activation);
template void activation_forward<bf16>(Exec&, bf16*, const bf16*, std::int64_t, std::int64_t, Activation);
template void activation_backward<float>(Exec&, float*, const float*, const float*, std::int64_t, std::int64_t,
                                         Activation);
template void activation_backward<bf16>(Exec&, bf16*, const bf16*, const bf16*, std::int64_t, std::int64_t, Activation);

}  // namespace deft::kernels::cuda
