#pragma once
// bfloat16: the upper half of a float. Arithmetic is done in float; only storage is short.
// The compilers' __builtin_bit_cast, since device code may not call std::bit_cast, a host function.

#include <cstdint>

#include "kernels/device.h"

namespace deft::kernels {

struct bf16 {
    std::uint16_t bits;
};

DEFT_HOST_DEVICE inline float to_float(float value) {
    return value;
}
DEFT_HOST_DEVICE inline double to_float(double value) {
    return value;
}
DEFT_HOST_DEVICE inline float to_float(bf16 value) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16);
}

// Rounds to nearest, ties to even; NaN stays NaN.
DEFT_HOST_DEVICE inline bf16 to_bf16(float value) {
    const auto bits = __builtin_bit_cast(std::uint32_t, value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
    return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

template <class Real>
DEFT_HOST_DEVICE inline Real from_float(float value);
template <>
DEFT_HOST_DEVICE inline float from_float<float>(float value) {
    return value;
}
template <>
DEFT_HOST_DEVICE inline bf16 from_float<bf16>(float value) {
    return to_bf16(value);
}

// The type of sums over activations of type Real: row statistics, losses, gradients of weights, master weights.
template <class Real>
struct SumTypeOf {
    using type = Real;
};
template <>
struct SumTypeOf<bf16> {
    using type = float;
};
template <class Real>
using Sum = typename SumTypeOf<Real>::type;

}  // namespace deft::kernels
