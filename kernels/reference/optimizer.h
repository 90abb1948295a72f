#pragma once
// Global gradient norm and AdamW.

#include <cmath>

#include "kernels/bf16.h"
#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

// norm[0] = l2 norm of x (n).
template <class Real>
void global_norm(Exec&, double* norm, const Real* x, std::int64_t n) {
    double squares = 0;
    for (std::int64_t i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    norm[0] = std::sqrt(squares);
}

inline std::size_t global_norm_workspace(std::int64_t) {
    return 0;
}

// Loshchilov & Hutter 2019, algorithm 2, with the decay multiplied by the learning rate; gradients are first clipped by
// their global norm (Pascanu et al. 2013, algorithm 1). Nothing is written when norm[0] or loss[0] is not finite.
template <class Real>
void adamw_update(Exec&, Real* param, bf16* rounded, Real* m, Real* v, const Real* grad, const double* norm,
                  const double* loss, std::int64_t n, const AdamW& adamw) {
    if (!std::isfinite(norm[0]) || !std::isfinite(loss[0])) return;
    const bool clips = adamw.max_grad_norm > 0 && norm[0] > adamw.max_grad_norm;
    const Real clip = clips ? Real(adamw.max_grad_norm / norm[0]) : Real(1);
    const Real lr = Real(adamw.lr), beta1 = Real(adamw.beta1), beta2 = Real(adamw.beta2), eps = Real(adamw.eps);
    const Real step = Real(adamw.step), weight_decay = Real(adamw.weight_decay);
    for (std::int64_t i = 0; i < n; ++i) {
        const Real g = clip * grad[i];
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        const Real m_hat = m[i] / (1 - std::pow(beta1, step)), v_hat = v[i] / (1 - std::pow(beta2, step));
        param[i] -= lr * (m_hat / (std::sqrt(v_hat) + eps) + weight_decay * param[i]);
        if (rounded != nullptr) rounded[i] = to_bf16(static_cast<float>(param[i]));
    }
}

// to (n) = from (n), in the type of activations.
template <class Real>
void round_to(Exec&, Real* to, const Sum<Real>* from, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
}

// total[0] = or += sum of x (n).
template <class Real>
void sum(Exec&, double* total, const Real* x, std::int64_t n, Accumulate accumulate) {
    double all = 0;
    for (std::int64_t i = 0; i < n; ++i) all += static_cast<double>(x[i]);
    total[0] = accumulate == Accumulate::yes ? total[0] + all : all;
}

}  // namespace deft::kernels::reference
