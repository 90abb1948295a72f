#pragma once
// Wilcoxon's signed-rank statistic W (1945): the sum of the ranks of |d| over the positive ones of n differences d.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reporting/analysis/statistics/verdict.h"

namespace deft::reporting {

// Up to here the distribution is exact but for the rounding of doubles (relative error below 1e-12). Beyond it is the
// normal one with a continuity correction, whose two-sided tail at 1% is within 1% of the exact one.
inline constexpr std::size_t kMostExactPairs = 512;

// The distribution of W when every difference is as likely positive as negative.
class SignedRank {
 public:
    explicit SignedRank(std::size_t pairs);

    // P(W <= w).
    double at_most(std::int64_t w) const;
    // The largest k with 2 P(W <= k) <= alpha. Nothing: so few pairs that even W = 0 is not that rare.
    std::optional<std::int64_t> critical(double alpha) const;

 private:
    double lower_half_at_most(std::int64_t w) const;

    std::int64_t pairs_;
    std::int64_t largest_;            // n (n + 1) / 2
    std::vector<double> cumulative_;  // (largest_ / 2 + 1): P(W <= w); empty beyond kMostExactPairs
};

// The fewest pairs for which a two-sided test at this level can reject, and its interval has ends: 2^(1-n) <= alpha.
std::size_t fewest_pairs(double alpha);

// Where paired differences are centred (Hodges and Lehmann 1963), with an interval that assumes symmetry and nothing
// else: no spike, however large, moves it more than its share.

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
