#pragma once
// Activations on the device; included by .cu sources alone.

#include <cmath>

#include "kernels/device.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// GELU, tanh form (Hendrycks & Gimpel 2016): 0.5 x (1 + tanh u) = x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3).
inline constexpr float kGeluScale = 0.7978845608028654f, kGeluCubic = 0.044715f;

__device__ inline float gelu_tanh(float x) {
    const float u = kGeluScale * (x + kGeluCubic * x * x * x);
    return x / (1.0f + expf(-2.0f * u));
}

// With s = 1 / (1 + e^-2u): d(x s)/dx = s + x s (1 - s) 2 du/dx.
__device__ inline float gelu_tanh_derivative(float x) {
    const float u = kGeluScale * (x + kGeluCubic * x * x * x);
    const float du = kGeluScale * (1.0f + 3.0f * kGeluCubic * x * x);
    const float s = 1.0f / (1.0f + expf(-2.0f * u));
    return s + x * s * (1.0f - s) * 2.0f * du;
}

// Phi(x) and its derivative.
__device__ inline float normal_cdf(float x) {
    constexpr float kInverseRoot = 0.7071067811865475f;  // 1 / sqrt 2
    return 0.5f * erfcf(-kInverseRoot * x);
}
__device__ inline float normal_density(float x) {
    return 0.3989422804014327f * expf(-0.5f * x * x);
}

__device__ inline float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}

// Activation without a gate, or the gate's function of a gated one.
__device__ inline float activate(Activation act, float x) {
    switch (act) {
        case Activation::none:
            return x;
        case Activation::gelu_tanh:
            return gelu_tanh(x);
        case Activation::gelu_erf:
            return x * normal_cdf(x);
        case Activation::tanh:
            return tanhf(x);
        case Activation::swiglu:
            break;
    }
    return x * sigmoid(x);
}

__device__ inline float activation_derivative(Activation act, float x) {
    switch (act) {
        case Activation::none:
            return 1.0f;
        case Activation::gelu_tanh:
            return gelu_tanh_derivative(x);
        case Activation::gelu_erf:
            return normal_cdf(x) + x * normal_density(x);
        case Activation::tanh:
            return 1.0f - tanhf(x) * tanhf(x);
        case Activation::swiglu:
            break;
    }
    const float s = sigmoid(x);
    return s * (1.0f + x * (1.0f - s));
}

}  // namespace deft::kernels::cuda
