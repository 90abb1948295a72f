#pragma once
// Activations, as their papers define them.

#include <cmath>
#include <cstdint>
#include <numbers>

#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

// Hendrycks & Gimpel 2016, section 2: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
template <class Real>
Real gelu_tanh(Real x) {
    const Real u = std::sqrt(Real(2) / std::numbers::pi_v<Real>) * (x + Real(0.044715) * x * x * x);
    return Real(0.5) * x * (1 + std::tanh(u));
}

// Derived with the product rule and tanh' = 1 - tanh^2.
template <class Real>
Real gelu_tanh_derivative(Real x) {
    const Real c = std::sqrt(Real(2) / std::numbers::pi_v<Real>);
    const Real t = std::tanh(c * (x + Real(0.044715) * x * x * x));
    return Real(0.5) * (1 + t) + Real(0.5) * x * (1 - t * t) * c * (1 + 3 * Real(0.044715) * x * x);
}

// The standard normal distribution.
template <class Real>
Real normal_cdf(Real x) {
    return Real(0.5) * std::erfc(-x / std::numbers::sqrt2_v<Real>);
}
template <class Real>
Real normal_density(Real x) {
    return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<Real>);
}

template <class Real>
Real sigmoid(Real x) {
    return 1 / (1 + std::exp(-x));
}

// Derivative of an activation without a gate, and of a gate: silu(x) = x sigmoid(x), sigmoid' = sigmoid (1 -
// sigmoid).
template <class Real>
Real activate(Activation act, Real x) {
    switch (act) {
        case Activation::none:
            return x;
        case Activation::gelu_tanh:
            return gelu_tanh(x);
        case Activation::gelu_erf:
            return x * normal_cdf(x);
        case Activation::tanh:
            return std::tanh(x);
        case Activation::swiglu:
            break;
    }
    return x * sigmoid(x);
}

template <class Real>
Real activation_derivative(Activation act, Real x) {
    switch (act) {
        case Activation::none:
            return 1;
        case Activation::gelu_tanh:
            return gelu_tanh_derivative(x);
        case Activation::gelu_erf:
            return normal_cdf(x) + x * normal_density(x);
        case Activation::tanh:
            return 1 - std::tanh(x) * std::tanh(x);
        case Activation::swiglu:
            break;
    }
    return sigmoid(x) + x * sigmoid(x) * (1 - sigmoid(x));
}

template <class Real>
void activation_forward(Exec&, Real* y, const Real* pre, std::int64_t rows, std::int64_t cols, Activation act) {
    const std::int64_t stride = columns_before(act, cols);
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) {
            const Real* x = pre + r * stride + c;
            y[r * cols + c] = activate(act, x[0]) * (act == Activation::swiglu ? x[cols] : Real(1));
        }
}

// dpre, shaped as pre, = dy (rows, cols) times the derivative; of SwiGLU dgate = dy silu'(gate) up, dup = dy
// silu(gate).
template <class Real>
void activation_backward(Exec&, Real* dpre, const Real* dy, const Real* pre, std::int64_t rows, std::int64_t cols,
                         Activation act) {
    const std::int64_t stride = columns_before(act, cols);
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) {
            const Real* x = pre + r * stride + c;
            Real* dx = dpre + r * stride + c;
            const Real g = dy[r * cols + c];
            dx[0] = g * activation_derivative(act, x[0]) * (act == Activation::swiglu ? x[cols] : Real(1));
            if (act == Activation::swiglu) dx[cols] = g * activate(act, x[0]);
        }
}

}  // namespace deft::kernels::reference
