#pragma once
// Linear layers and GELU.

#include <cmath>
#include <numbers>

#include "kernels/reference/dot.h"
#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

// Hendrycks & Gimpel 2016, section 2: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
template <class Real>
Real gelu(Real x) {
    const Real u = std::sqrt(Real(2) / std::numbers::pi_v<Real>) * (x + Real(0.044715) * x * x * x);
    return Real(0.5) * x * (1 + std::tanh(u));
}

// By the product rule, with tanh' = 1 - tanh^2.
template <class Real>
Real gelu_derivative(Real x) {
    const Real c = std::sqrt(Real(2) / std::numbers::pi_v<Real>);
    const Real t = std::tanh(c * (x + Real(0.044715) * x * x * x));
    return Real(0.5) * (1 + t) + Real(0.5) * x * (1 - t * t) * c * (1 + 3 * Real(0.044715) * x * x);
}

// y = act(x W^T + bias). x (rows, in), w (out, in), bias (out) or null, y (rows, out), pre (rows, out) or null.
template <class Real>
void linear_forward(Exec&, Real* y, Real* pre, const Real* x, const Real* w, const Real* bias, std::int64_t rows,
                    std::int64_t in, std::int64_t out, Activation act) {
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t o = 0; o < out; ++o) {
            const Real z = (bias == nullptr ? Real(0) : bias[o]) + dot(x + r * in, w + o * in, in);
            if (pre != nullptr) pre[r * out + o] = z;
            y[r * out + o] = act == Activation::gelu ? gelu(z) : z;
        }
}

// dx = (dy W) * act'(pre). dy (rows, out), w (out, in), dx (rows, in), pre (rows, in).
template <class Real>
void linear_backward_input(Exec&, Real* dx, const Real* dy, const Real* w, const Real* pre, std::int64_t rows,
                           std::int64_t in, std::int64_t out, Activation act) {
    for (std::int64_t r = 0; r < rows; ++r) {
        Real* row = dx + r * in;
        for (std::int64_t i = 0; i < in; ++i) row[i] = 0;
        for (std::int64_t o = 0; o < out; ++o)
            for (std::int64_t i = 0; i < in; ++i) row[i] += dy[r * out + o] * w[o * in + i];
        for (std::int64_t i = 0; act == Activation::gelu && i < in; ++i) row[i] *= gelu_derivative(pre[r * in + i]);
    }
}

// dw (out, in) = or += dy^T x; dbias (out) or null = or += column sums of dy.
template <class Real>
void linear_backward_weight(Exec&, Real* dw, Real* dbias, const Real* dy, const Real* x, std::int64_t rows,
                            std::int64_t in, std::int64_t out, Accumulate accumulate) {
    for (std::int64_t i = 0; accumulate == Accumulate::no && i < out * in; ++i) dw[i] = 0;
    for (std::int64_t o = 0; accumulate == Accumulate::no && dbias != nullptr && o < out; ++o) dbias[o] = 0;
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t o = 0; o < out; ++o) {
            const Real dy_ro = dy[r * out + o];
            for (std::int64_t i = 0; i < in; ++i) dw[o * in + i] += dy_ro * x[r * in + i];
            if (dbias != nullptr) dbias[o] += dy_ro;
        }
}

inline std::size_t linear_backward_weight_workspace(std::int64_t, std::int64_t, std::int64_t) {
    return 0;
}

}  // namespace deft::kernels::reference
