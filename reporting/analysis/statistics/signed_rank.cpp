#include "reporting/analysis/statistics/signed_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "reporting/analysis/statistics/distributions.h"
#include "reporting/numbers.h"

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

namespace {

void check(std::span<const double> differences) {
    if (differences.empty()) throw Error(ErrorKind::data, "no differences to find the centre of");
    if (differences.size() > kMostPairs)
        throw Error(ErrorKind::data, fmt::format("{} differences, and at most {} are looked at together",
                                                 differences.size(), kMostPairs));
    if (!all_finite(differences)) throw Error(ErrorKind::data, "a difference that is not a finite number");
}

std::vector<double> walsh_averages(std::span<const double> differences) {
    std::vector<double> averages;
    averages.reserve(differences.size() * (differences.size() + 1) / 2);
    for (std::size_t i = 0; i < differences.size(); ++i)
        for (std::size_t j = i; j < differences.size(); ++j)
            averages.push_back(differences[i] / 2 + differences[j] / 2);
    return averages;
}

double kth_smallest(std::vector<double>& values, std::size_t k) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(k);
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

double reordering_median(std::vector<double>& values) {
    const std::size_t n = values.size();
    const double upper = kth_smallest(values, n / 2);
    return n % 2 == 1 ? upper : kth_smallest(values, n / 2 - 1) / 2 + upper / 2;
}

double p_value(const std::vector<double>& averages, const SignedRank& distribution) {
    const auto not_above = std::count_if(averages.begin(), averages.end(), [](double a) { return a <= 0; });
    const auto not_below = std::count_if(averages.begin(), averages.end(), [](double a) { return a >= 0; });
    return std::min(1.0, 2 * distribution.at_most(std::min(not_above, not_below)));
}

}  // namespace

HodgesLehmann hodges_lehmann(std::span<const double> differences, double alpha) {
    check(differences);
    const SignedRank distribution(differences.size());
    std::vector<double> averages = walsh_averages(differences);
    HodgesLehmann result;
    result.estimate = reordering_median(averages);
    result.p_value = p_value(averages, distribution);
    if (const auto critical = distribution.critical(alpha)) {
        const auto k = static_cast<std::size_t>(*critical);
        result.interval = Interval{kth_smallest(averages, k), kth_smallest(averages, averages.size() - 1 - k)};
    }
    return result;
}

}  // namespace deft::reporting
