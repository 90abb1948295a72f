#pragma once
// One value per sample, and its squared error.

#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

template <class Real>
void value_loss(Exec&, Real* loss, Real* value, const Real* x, const Real* w, const Real* bias, const float* target,
                std::int64_t B, std::int64_t C) {
    for (std::int64_t b = 0; b < B; ++b) {
        Real sum = bias[0];
        for (std::int64_t c = 0; c < C; ++c) sum += x[b * C + c] * w[c];
        value[b] = sum;
        loss[b] = (sum - Real(target[b])) * (sum - Real(target[b]));
    }
}

template <class Real>
void value_loss_train(Exec& exec, Real* loss, Real* value, Real* dx, Real* dw, Real* dbias, const Real* x,
                      const Real* w, const Real* bias, const float* target, std::int64_t B, std::int64_t C,
                      StepValue<double> scale, Accumulate accumulate) {
    value_loss(exec, loss, value, x, w, bias, target, B, C);
    if (accumulate == Accumulate::no) {
        for (std::int64_t c = 0; c < C; ++c) dw[c] = 0;
        dbias[0] = 0;
    }
    for (std::int64_t b = 0; b < B; ++b) {
        const Real d = Real(2 * scale.get()) * (value[b] - Real(target[b]));
        dbias[0] += d;
        for (std::int64_t c = 0; c < C; ++c) {
            dx[b * C + c] = d * w[c];
            dw[c] += d * x[b * C + c];
        }
    }
}

}  // namespace deft::kernels::reference
