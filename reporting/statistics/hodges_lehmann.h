#pragma once
// Where paired differences are centred (Hodges and Lehmann 1963), with an interval that assumes symmetry and nothing
// else: no spike, however large, moves it more than its share.

#include <cstddef>
#include <optional>
#include <span>

#include "reporting/statistics/verdict.h"

namespace deft::reporting {

// More would need gigabytes: there are n (n + 1) / 2 averages.
inline constexpr std::size_t kMostPairs = 4096;

struct HodgesLehmann {
    double estimate = 0;  // the median of the averages (d_i + d_j) / 2, i <= j
    // Two-sided, that the differences are centred at 0. Averages of exactly 0 (zeros; d and -d) count on the side that
    // makes it larger, so ties and zeros can hide a difference and never make one. At most alpha exactly where the
    // interval leaves 0 out.
    double p_value = 1;
    std::optional<Interval> interval;  // of confidence at least 1 - alpha; nothing below fewest_pairs(alpha)
};

// alpha in (0, 1). Errors (data): no differences, more than kMostPairs, one that is not finite.
HodgesLehmann hodges_lehmann(std::span<const double> differences, double alpha);

}  // namespace deft::reporting
