#pragma once
// Elementary functions as straight-line arithmetic, so that the compiler can turn a loop over them into vector code.
// NaN in gives NaN out.

#include <bit>
#include <cstdint>
#include <numbers>

namespace deft::kernels::cpu {

// e^x within 2 ulp; inf above the float range, 0 below e^-86.6 (2.5e-38).
// e^x = 2^n e^r, n = round(x / ln 2), |r| <= ln 2 / 2; e^r by a degree-6 polynomial through Chebyshev nodes.
[[gnu::always_inline]] inline float vector_exp(float x) {
    constexpr float kLowest = -86.6f, kHighest = 89.0f;
    constexpr float kRound = 12582912.0f;  // 1.5 2^23: adding it leaves round(x) in the low bits
    constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;  // the high part has 10 bits: n * high is exact
    const float clamped = kHighest < x ? kHighest : x;
    const float shifted = clamped * std::numbers::log2e_v<float> + kRound;
    const float n = shifted - kRound;
    const float r = (clamped - n * kLn2High) - n * kLn2Low;
    const float tail = 0.5f + r * (0.166665768f + r * (0.0416665544f + r * (0.00836320297f + r * 0.00139262135f)));
    const float e_r = 1.0f + (r + r * r * tail);
    // 2^(n-1), then doubled: n reaches 128.
    const auto half_power = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) << 23) + (126u << 23));
    const float value = e_r * half_power * 2.0f;
    return x < kLowest ? 0.0f : value;
}

// GELU, tanh form (Hendrycks & Gimpel 2016): 0.5 x (1 + tanh u) = x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3).
inline constexpr float kGeluScale = 0.7978845608028654f, kGeluCubic = 0.044715f;

[[gnu::always_inline]] inline float gelu_tanh(float x) {
    const float u = kGeluScale * (x + kGeluCubic * x * x * x);
    return x / (1.0f + vector_exp(-2.0f * u));
}

// With s = 1 / (1 + e^-2u): d(x s)/dx = s + x s (1 - s) 2 du/dx.
[[gnu::always_inline]] inline float gelu_tanh_derivative(float x) {
    const float u = kGeluScale * (x + kGeluCubic * x * x * x);
    const float du = kGeluScale * (1.0f + 3.0f * kGeluCubic * x * x);
    const float s = 1.0f / (1.0f + vector_exp(-2.0f * u));
    return s + x * s * (1.0f - s) * 2.0f * du;
}

// Phi(x), the standard normal distribution, given e^(-x^2/2), within 4 ulp for |x| < 2 and 4e-6 of itself down to
// e^-87. The tail beyond |x| is e^(-x^2/2) t p(t), t = 1 / (1 + 0.3 |x| / sqrt 2), a form of Numerical Recipes
// (section 6.2.2); p, of degree 8, through Chebyshev nodes of t for |x| up to 13.3.
[[gnu::always_inline]] inline float normal_cdf(float x, float exp_half_square) {
    const float t = 1.0f / (1.0f + 0.212132034f * (x < 0.0f ? -x : x));
    const float low = 0.0845879093f + t * (0.0854513571f + t * (0.0735615715f + t * 0.109638117f));
    const float high =
        -0.0520275757f + t * (0.280163705f + t * (-0.26126799f + t * (0.245102569f + t * -0.0652096644f)));
    const float tail = exp_half_square * t * (low + t * t * (t * t) * high);
    return x > 0.0f ? 1.0f - tail : tail;
}

// GELU, exact form: x Phi(x), and Phi(x) + x phi(x).
[[gnu::always_inline]] inline float gelu_erf(float x) {
    return x * normal_cdf(x, vector_exp(-0.5f * x * x));
}
[[gnu::always_inline]] inline float gelu_erf_derivative(float x) {
    constexpr float kDensityAtZero = 0.3989422804f;  // 1 / sqrt(2 pi)
    const float exp_half_square = vector_exp(-0.5f * x * x);
    return normal_cdf(x, exp_half_square) + x * exp_half_square * kDensityAtZero;
}

[[gnu::always_inline]] inline float sigmoid(float x) {
    return 1.0f / (1.0f + vector_exp(-x));
}

// Within 2e-7; of small |x| the error is not small beside tanh x itself.
[[gnu::always_inline]] inline float vector_tanh(float x) {
    return 1.0f - 2.0f / (1.0f + vector_exp(2.0f * x));
}
[[gnu::always_inline]] inline float tanh_derivative(float x) {
    const float t = vector_tanh(x);
    return 1.0f - t * t;
}

}  // namespace deft::kernels::cpu
