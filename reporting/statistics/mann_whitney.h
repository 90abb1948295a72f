#pragma once
// The rank test of two samples that are not paired (Mann and Whitney 1947).

#include <cstddef>
#include <span>

namespace deft::reporting {

// Up to this many values in all the p-value is exact, ties included: the share of all ways to deal out these very
// values whose rank sum is as extreme. Beyond, the normal distribution, corrected for ties and continuity.
inline constexpr std::size_t kMostExactValues = 60;

struct MannWhitney {
    double u = 0;        // pairs (a_i, b_j) with a_i > b_j, ties counting one half
    double p_value = 1;  // twice the smaller tail, at most 1
    bool exact = false;
};

// Errors (data): an empty sample, a value that is not finite.
MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b);

// 2 / C(a + b, a): no two samples of these sizes have a smaller p.
double smallest_reachable_p(std::size_t a, std::size_t b);

}  // namespace deft::reporting
