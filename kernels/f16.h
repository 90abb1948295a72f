#pragma once
// IEEE 754 binary16, as files store it; nothing is computed in it.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/bf16.h"

namespace deft::kernels {

struct f16 {
    std::uint16_t bits;
};

// Exact.
inline float to_float(f16 value) {
    const int exponent = value.bits >> 10 & 31;
    const int fraction = value.bits & 1023;
    float magnitude = 0;
    if (exponent == 31)
        magnitude = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    else if (exponent == 0)
        magnitude = std::ldexp(static_cast<float>(fraction), -24);
    else
        magnitude = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return (value.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// Rounds to nearest, ties to even; what rounds to more than 65504 becomes infinity, NaN stays NaN.
inline f16 to_f16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const auto signed_bits = [&](std::uint32_t rest) { return f16{static_cast<std::uint16_t>(sign | rest)}; };
    if (magnitude > 0x7f800000u) return signed_bits(0x7e00u);
    if (magnitude >= 0x47800000u) return signed_bits(0x7c00u);  // 65536 and more
    if (magnitude < 0x38800000u) {                              // below 2^-14: multiples of 2^-24
        const float units = std::bit_cast<float>(magnitude) * 0x1p24f;
        return signed_bits(static_cast<std::uint32_t>(std::nearbyint(units)));
    }
    // A carry out of the fraction goes into the exponent, and out of the largest one to infinity.
    const std::uint32_t rebased = magnitude - (112u << 23);
    return signed_bits((rebased + 0xfffu + (rebased >> 13 & 1u)) >> 13);
}

template <>
inline f16 from_float<f16>(float value) {
    return to_f16(value);
}

}  // namespace deft::kernels
