#pragma once
// Rows of activations: in the loops after a product and by themselves, with the same bits.

#include <cstdint>

#include "kernels/cpu/vector_math.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// f(function, derivative), elementwise ones of an activation without a gate.
template <class F>
[[gnu::always_inline]] inline void with_activation(Activation act, const F& f) {
    if (act == Activation::gelu_tanh)
        f([](float x) { return gelu_tanh(x); }, [](float x) { return gelu_tanh_derivative(x); });
    else if (act == Activation::gelu_erf)
        f([](float x) { return gelu_erf(x); }, [](float x) { return gelu_erf_derivative(x); });
    else if (act == Activation::tanh)
        f([](float x) { return vector_tanh(x); }, [](float x) { return tanh_derivative(x); });
    else
        f([](float x) { return x; }, [](float) { return 1.0f; });
}

// y (n) = act(z), which may be y.
inline void activate_row(float* y, const float* z, std::int64_t n, Activation act) {
    with_activation(act, [&](auto function, auto) {
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i) y[i] = function(z[i]);
    });
}

// dz (n) = dy act'(z); dz may be dy.
inline void activation_backward_row(float* dz, const float* dy, const float* z, std::int64_t n, Activation act) {
    with_activation(act, [&](auto, auto derivative) {
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i) dz[i] = dy[i] * derivative(z[i]);
    });
}

// sum (n) += dy act'(z).
inline void add_activation_backward_row(float* sum, const float* dy, const float* z, std::int64_t n, Activation act) {
    with_activation(act, [&](auto, auto derivative) {
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i) sum[i] += dy[i] * derivative(z[i]);
    });
}

}  // namespace deft::kernels::cpu
