#include "reporting/statistics/signed_rank.h"

#include <algorithm>
#include <cmath>

#include "reporting/statistics/distributions.h"

namespace deft::reporting {

namespace {

// P(W <= w) for w in 0..largest: each rank joins the sum with probability one half. Terms are positive and halving is
// exact, so the tail keeps its digits.
std::vector<double> cumulative_probabilities(std::int64_t pairs, std::int64_t largest) {
    std::vector<double> probability(static_cast<std::size_t>(largest) + 1, 0.0);
    probability[0] = 1;
    for (std::int64_t rank = 1; rank <= pairs; ++rank) {
        const std::int64_t reached = std::min(largest, rank * (rank + 1) / 2);
        for (std::int64_t w = reached; w >= 0; --w) {
            const double without = probability[static_cast<std::size_t>(w)];
            const double with = w >= rank ? probability[static_cast<std::size_t>(w - rank)] : 0;
            probability[static_cast<std::size_t>(w)] = (without + with) / 2;
        }
    }
    for (std::size_t w = 1; w < probability.size(); ++w) probability[w] += probability[w - 1];
    return probability;
}

}  // namespace

SignedRank::SignedRank(std::size_t pairs)
    : pairs_(static_cast<std::int64_t>(pairs)), largest_(pairs_ * (pairs_ + 1) / 2) {
    if (pairs <= kMostExactPairs) cumulative_ = cumulative_probabilities(pairs_, largest_ / 2);
}

double SignedRank::lower_half_at_most(std::int64_t w) const {
    if (w < 0) return 0;
    if (!cumulative_.empty()) return cumulative_[static_cast<std::size_t>(w)];
    const double n = static_cast<double>(pairs_);
    const double mean = n * (n + 1) / 4;
    const double deviation = std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
    return normal_tail((mean - static_cast<double>(w) - 0.5) / deviation);
}

double SignedRank::at_most(std::int64_t w) const {
    // W and largest - W have the same distribution.
    return w <= largest_ / 2 ? lower_half_at_most(w) : 1 - lower_half_at_most(largest_ - 1 - w);
}

std::optional<std::int64_t> SignedRank::critical(double alpha) const {
    if (2 * at_most(0) > alpha) return std::nullopt;
    std::int64_t rare = 0, common = largest_;
    while (common - rare > 1) {
        const std::int64_t middle = (rare + common) / 2;
        (2 * at_most(middle) <= alpha ? rare : common) = middle;
    }
    return rare;
}

std::size_t fewest_pairs(double alpha) {
    std::size_t pairs = 1;
    for (double smallest = 1; smallest > alpha; smallest /= 2) ++pairs;
    return pairs;
}

}  // namespace deft::reporting
