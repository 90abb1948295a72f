#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

// A warp a sample.
template <class Real>
__global__ void value_rows(float* loss, float* value, const Real* x, const Real* w, const Real* bias,
                           const float* target, std::int64_t B, std::int64_t C) {
    const std::int64_t b = warp_row();
    if (b >= B) return;
    float sum = 0;
    for (std::int64_t c = warp_lane(); c < C; c += kWarpSize) sum += to_float(x[b * C + c]) * to_float(w[c]);
    sum = warp_sum(sum) + to_float(bias[0]);
    if (warp_lane() != 0) return;
    value[b] = sum;
    loss[b] = (sum - target[b]) * (sum - target[b]);
}

// A thread a column, and one more for the bias: each adds the samples in their order.
template <class Real>
__global__ void value_gradients(Real* dx, float* dw, float* dbias, const float* value, const Real* x, const Real* w,
                                const float* target, std::int64_t B, std::int64_t C, StepValue<double> scale,
                                bool adds) {
    const auto twice = static_cast<float>(2 * scale.get());
    for (std::int64_t c = first_item(); c <= C; c += item_stride()) {
        float* const to = c < C ? dw + c : dbias;
        float sum = adds ? *to : 0.0f;
        for (std::int64_t b = 0; b < B; ++b) {
            const float d = twice * (value[b] - target[b]);
            sum += c < C ? d * to_float(x[b * C + c]) : d;
            if (c < C) dx[b * C + c] = from_float<Real>(d * to_float(w[c]));
        }
        *to = sum;
    }
}

}  // namespace

template <class Real>
void value_loss(Exec& exec, float* loss, float* value, const Real* x, const Real* w, const Real* bias,
                const float* target, std::int64_t B, std::int64_t C) {
    launch(exec, over_rows("value_rows", B), value_rows<Real>, loss, value, x, w, bias, target, B, C);
}

template <class Real>
void value_loss_train(Exec& exec, float* loss, float* value, Real* dx, float* dw, float* dbias, const Real* x,
                      const Real* w, const Real* bias, const float* target, std::int64_t B, std::int64_t C,
                      StepValue<double> scale, Accumulate accumulate) {
    value_loss(exec, loss, value, x, w, bias, target, B, C);
    launch(exec, over_items("value_gradients", C + 1), value_gradients<Real>, dx, dw, dbias, value, x, w, target, B, C,
           scale, accumulate == Accumulate::yes);
}

template void value_loss<float>(Exec&, float*, float*, const float*, const float*, const float*, const float*,
                                std::int64_t, std::int64_t);
template void value_loss<bf16>(Exec&, float*, float*, const bf16*, const bf16*, const bf16*, const float*, std::int64_t,
                               std::int64_t);
template void value_loss_train<float>(Exec&, float*, float*, float*, float*, float*, const float*, const float*,
                                      const float*, const float*, std::int64_t, std::int64_t, StepValue<double>,
                                      Accumulate);
template void value_loss_train<bf16>(Exec&, float*, float*, bf16*, float*, float*, const bf16*, const bf16*,
                                     const bf16*, const float*, std::int64_t, std::int64_t, StepValue<double>,
                                     Accumulate);

}  // namespace deft::kernels::cuda
