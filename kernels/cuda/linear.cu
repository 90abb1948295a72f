#include "kernels/cuda/cuda.h"

#include "kernels/cuda/activation.h"
#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/op_products.h"
#include "kernels/cuda/vector.h"
#include "kernels/cuda/workspace.h"

namespace deft::kernels::cuda {

namespace {

// z (rows, out) += bias (out), unless null; y (rows, out), which may be z, = act(z).
template <class Real, int kWidth>
__global__ void add_bias_activate(Real* y, Real* z, const Real* bias, std::int64_t rows, std::int64_t out,
                                  Activation act) {
    const std::int64_t row = warp_row();
    if (row >= rows) return;
    for (std::int64_t col = warp_lane() * kWidth; col < out; col += kWarpSize * kWidth) {
        float value[kWidth], b[kWidth];
        load(value, z + row * out + col);
        if (bias != nullptr) {
            load(b, bias + col);
            // Rounded as it is stored, so that the backward pass sees the value that was activated.
            for (int i = 0; i < kWidth; ++i) value[i] = to_float(from_float<Real>(value[i] + b[i]));
        }
        if (y != z) store(z + row * out + col, value);
        for (int i = 0; i < kWidth; ++i) value[i] = activate(act, value[i]);
        store(y + row * out + col, value);
    }
}

// dx (rows, in) *= act'(pre), pre (rows, in).
template <class Real, int kWidth>
__global__ void multiply_derivative(Real* dx, const Real* pre, std::int64_t rows, std::int64_t in, Activation act) {
    const std::int64_t row = warp_row();
    if (row >= rows) return;
    for (std::int64_t col = warp_lane() * kWidth; col < in; col += kWarpSize * kWidth) {
        float gradient[kWidth], x[kWidth];
        load(gradient, dx + row * in + col);
        load(x, pre + row * in + col);
        for (int i = 0; i < kWidth; ++i) gradient[i] *= activation_derivative(act, x[i]);
        store(dx + row * in + col, gradient);
    }
}

// dx (rows, in) += product act'(pre), all (rows, in).
template <class Real, int kWidth>
__global__ void add_activated_gradient(Real* dx, const float* product, const Real* pre, std::int64_t rows,
                                       std::int64_t in, Activation act) {
    const std::int64_t row = warp_row();
    if (row >= rows) return;
    for (std::int64_t col = warp_lane() * kWidth; col < in; col += kWarpSize * kWidth) {
        float sum[kWidth], gradient[kWidth], x[kWidth];
        load(sum, dx + row * in + col);
        load(gradient, product + row * in + col);
        load(x, pre + row * in + col);
        for (int i = 0; i < kWidth; ++i) sum[i] += gradient[i] * activation_derivative(act, x[i]);
        store(dx + row * in + col, sum);
    }
}

// dx += (dy W) * act'(pre), in chunks of rows.
template <class Real>
void add_backward_input(Exec& exec, Real* dx, const Real* dy, const Real* w, const Real* pre, std::int64_t rows,
                        std::int64_t in, std::int64_t out, Activation act) {
    require_workspace(exec, linear_backward_input_workspace(rows, in, act, Accumulate::yes), "linear_backward_input");
    auto* product = scratch<float>(exec, 0);  // (chunk, in)
    const std::int64_t chunk = product_chunk_rows(rows, in);
    for (std::int64_t first = 0; first < rows; first += chunk) {
        const std::int64_t count = std::min(chunk, rows - first);
        gemm<Real, float>(exec, product, {dy + first * out}, {w}, count, in, out, 0.0f);
        Real* dx_rows = dx + first * in;
        const Real* pre_rows = pre + first * in;
        const bool wide = rows_are_wide<Real>(in, dx_rows, pre_rows) && rows_are_wide<float>(in, product);
        with_width<Real>(wide, [&](auto width) {
            launch(exec, over_rows("add_activated_gradient", count), add_activated_gradient<Real, width>, dx_rows,
                   product, pre_rows, count, in, act);
        });
    }
}

}  // namespace

template <class Real>
void linear_forward(Exec& exec, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias, std::int64_t rows,
                    std::int64_t in, std::int64_t out, Activation act) {
    const bool is_product = bias == nullptr && act == Activation::none;
    if (!is_product && library_may_activate(product_type<Real>, act) &&
        library_bias_activation(exec, y, pre, x, w, bias, rows, in, out, act))
        return;
    Real* z = pre == nullptr ? y : pre;  // (rows, out)
    gemm<Real, Real>(exec, z, {x}, {w, true}, rows, out, in, 0.0f);
    if (is_product && y == z) return;
    with_width<Real>(rows_are_wide<Real>(out, y, z, bias), [&](auto width) {
        launch(exec, over_rows("add_bias_activate", rows), add_bias_activate<Real, width>, y, z, bias, rows, out, act);
    });
}

template <class Real>
void linear_backward_input(Exec& exec, Real* dx, const Real* dy, const Real* w, const Real* pre, std::int64_t rows,
                           std::int64_t in, std::int64_t out, Activation act, Accumulate accumulate) {
    const bool adds = accumulate == Accumulate::yes;
    if (act != Activation::none && adds) return add_backward_input(exec, dx, dy, w, pre, rows, in, out, act);
    if (act != Activation::none && library_may_activate(product_type<Real>, act) &&
        library_activation_gradient(exec, dx, dy, w, pre, rows, in, out, act))
        return;
    gemm<Real, Real>(exec, dx, {dy}, {w}, rows, in, out, adds ? 1.0f : 0.0f);
    if (act == Activation::none) return;
    with_width<Real>(rows_are_wide<Real>(in, dx, pre), [&](auto width) {
        launch(exec, over_rows("multiply_derivative", rows), multiply_derivative<Real, width>, dx, pre, rows, in, act);
    });
}

template <class Real>
void linear_backward_weight(Exec& exec, float* dw, float* dbias, const Real* dy, const Real* x, std::int64_t rows,
                            std::int64_t in, std::int64_t out, Accumulate accumulate) {
    gemm<Real, float>(exec, dw, {dy, true}, {x}, out, in, rows, accumulate == Accumulate::yes ? 1.0f : 0.0f);
    if (dbias != nullptr) column_sums(exec, dbias, dy, rows, out, accumulate);
}

template void linear_forward<float>(Exec&, float*, float*, const float*, const float*, const float*, std::int64_t,
                                    std::int64_t, std::int64_t, Activation);
template void linear_forward<bf16>(Exec&, bf16*, bf16*, const bf16*, const bf16*, const bf16*, std::int64_t,
                                   std::int64_t, std::int64_t, Activation);
template void linear_backward_input<float>(Exec&, float*, const float*, const float*, const float*, std::int64_t,
                                           std::int64_t, std::int64_t, Activation, Accumulate);
template void linear_backward_input<bf16>(Exec&, bf16*, const bf16*, const bf16*, const bf16*, std::int64_t,
                                          std::int64_t, std::int64_t, Activation, Accumulate);
template void linear_backward_weight<float>(Exec&, float*, float*, const float*, const float*, std::int64_t,
                                            std::int64_t, std::int64_t, Accumulate);
template void linear_backward_weight<bf16>(Exec&, float*, float*, const bf16*, const bf16*, std::int64_t, std::int64_t,
                                           std::int64_t, Accumulate);

}  // namespace deft::kernels::cuda
