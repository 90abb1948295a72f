#pragma once
// Ceiling and floor of a count times a decimal fraction. 1.1 x 50 in binary is a little more than 55; a value this
// close to an integer is that integer.

#include <cmath>

#include "kernels/device.h"

namespace deft::kernels {

// Above the rounding of a few products and quotients, below the distance of any written fraction from an integer.
inline constexpr double kDecimalTolerance = 1e-12, kMostDecimalTolerance = 1e-6;

DEFT_HOST_DEVICE inline bool is_decimal_integer(double value) {
    const double nearest = std::round(value), distance = value - nearest;
    const double relative = kDecimalTolerance * (std::fabs(value) > 1 ? std::fabs(value) : 1);
    const double most = relative < kMostDecimalTolerance ? relative : kMostDecimalTolerance;
    return distance <= most && -distance <= most;
}

DEFT_HOST_DEVICE inline double ceil_of_decimal(double value) {
    return is_decimal_integer(value) ? std::round(value) : std::ceil(value);
}

DEFT_HOST_DEVICE inline double floor_of_decimal(double value) {
    return is_decimal_integer(value) ? std::round(value) : std::floor(value);
}

}  // namespace deft::kernels
