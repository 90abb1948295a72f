#pragma once
// Losses as integers, so that their sums do not depend on the order of the terms: not on threads, nor on how a batch is
// split over micro-batches and ranks.

#include <cmath>
#include <cstdint>

#include "kernels/device.h"

namespace deft::kernels {

// Units of a nat: 2^-24 is a float's own spacing below 1. A loss counts for at most 1024 nats, so that 2^29 of them fit
// 63 bits.
inline constexpr double kLossUnits = 1 << 24, kMostLoss = 1024;

// The importance of an entry that is kept whatever its loss.
inline constexpr float kAlwaysKept = __builtin_inff();

// Rounded to the nearest unit; what is negative or NaN counts as 0.
DEFT_HOST_DEVICE inline std::int64_t fixed_point_loss(double loss) {
    const double bounded = loss > 0 ? (loss < kMostLoss ? loss : kMostLoss) : 0;
    return static_cast<std::int64_t>(bounded * kLossUnits + 0.5);
}

// The moving average of an entry's loss: decay x old + (1 - decay) x the mean over `count` occurrences, whose losses
// sum to `sum` units. An entry that did not occur, or is always kept, stays as it is.
DEFT_HOST_DEVICE inline float moved_importance(float old, std::int64_t sum, std::int64_t count, double decay) {
    if (count == 0 || old == kAlwaysKept) return old;
    const double mean = static_cast<double>(sum) / (kLossUnits * static_cast<double>(count));
    return static_cast<float>(decay * static_cast<double>(old) + (1 - decay) * mean);
}

}  // namespace deft::kernels
