#pragma once
// Stochastic rounding to bf16: up or down at random, with the value as the mean (Gupta et al. 2015, "Deep Learning with
// Limited Numerical Precision", section 3). A moment that changes by less than half of a step of bf16 would never
// change under rounding to nearest.

#include <cstdint>

#include "kernels/bf16.h"
#include "kernels/device.h"

namespace deft::kernels {

// The finalizer of MurmurHash3 (Appleby 2011): each bit of the input changes half of the bits.
DEFT_HOST_DEVICE inline std::uint32_t mixed_bits(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}

// Random bits for the two moments of a weight, 16 each. They depend on the step and on values, and on no position, so
// that ranks which share moments round alike. step: counts from 1.
DEFT_HOST_DEVICE inline std::uint32_t moment_bits(std::uint32_t step, float weight, float gradient) {
    const std::uint32_t of_weight = mixed_bits(step ^ __builtin_bit_cast(std::uint32_t, weight));
    return mixed_bits(of_weight ^ __builtin_bit_cast(std::uint32_t, gradient));
}

// The neighbour of `value` above it in size where its discarded 16 bits and those of `random` carry, else the one
// below. Infinities and NaN stay.
DEFT_HOST_DEVICE inline bf16 to_bf16_at_random(float value, std::uint32_t random) {
    const auto bits = __builtin_bit_cast(std::uint32_t, value);
    if ((bits & 0x7F800000u) == 0x7F800000u) return to_bf16(value);
    return {static_cast<std::uint16_t>((bits + (random & 0xFFFFu)) >> 16)};
}

// The value in the type of stored moments: rounded at random to bf16, or unchanged.
template <class Moment, class Real>
DEFT_HOST_DEVICE inline Moment stored_moment(Real value, std::uint32_t random) {
    if constexpr (sizeof(Moment) == sizeof(bf16))
        return to_bf16_at_random(static_cast<float>(value), random);
    else
        return value;
}

}  // namespace deft::kernels
