#include "reporting/statistics/mann_whitney.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "reporting/statistics/distributions.h"

namespace deft::reporting {

namespace {

using Values = std::span<const double>;

struct Ranks {
    std::vector<int>
        doubled;      // of all values in growing order, ties sharing their mean rank: whole numbers when doubled
    double ties = 0;  // sum of t^3 - t over groups of t equal values
    int of_a = 0;     // doubled rank sum of the first sample
};

Ranks ranks_of(Values a, Values b) {
    struct Owned {
        double value;
        bool is_a;
    };
    std::vector<Owned> all;
    for (double value : a) all.push_back({value, true});
    for (double value : b) all.push_back({value, false});
    std::sort(all.begin(), all.end(), [](const Owned& x, const Owned& y) { return x.value < y.value; });

    Ranks ranks;
    for (std::size_t first = 0; first < all.size();) {
        std::size_t end = first;
        while (end < all.size() && all[end].value == all[first].value) ++end;
        const int doubled = static_cast<int>(first + end) + 1;  // (first + 1) + end
        for (std::size_t i = first; i < end; ++i) {
            ranks.doubled.push_back(doubled);
            if (all[i].is_a) ranks.of_a += doubled;
        }
        const double t = static_cast<double>(end - first);
        ranks.ties += t * t * t - t;
        first = end;
    }
    return ranks;
}

// Of all ways to choose `chosen` of the ranks, how many have each sum.
std::vector<double> ways_by_sum(const std::vector<int>& ranks, std::size_t chosen) {
    std::size_t most = 0;
    for (std::size_t i = ranks.size() - chosen; i < ranks.size(); ++i) most += static_cast<std::size_t>(ranks[i]);
    std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1, 0.0));  // (count, sum)
    ways[0][0] = 1;
    for (int rank : ranks)
        for (std::size_t count = chosen; count >= 1; --count)
            for (std::size_t sum = static_cast<std::size_t>(rank); sum <= most; ++sum)
                ways[count][sum] += ways[count - 1][sum - static_cast<std::size_t>(rank)];
    return ways[chosen];
}

double exact_p(const Ranks& ranks, std::size_t chosen) {
    const std::vector<double> ways = ways_by_sum(ranks.doubled, chosen);
    double all = 0, low = 0, high = 0;
    for (std::size_t sum = 0; sum < ways.size(); ++sum) {
        all += ways[sum];
        if (sum <= static_cast<std::size_t>(ranks.of_a)) low += ways[sum];
        if (sum >= static_cast<std::size_t>(ranks.of_a)) high += ways[sum];
    }
    return std::min(1.0, 2 * std::min(low, high) / all);
}

double normal_p(double u, double n_a, double n_b, double ties) {
    const double n = n_a + n_b;
    const double variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
    if (variance <= 0) return 1;  // all values are equal
    return std::min(1.0, 2 * normal_tail((std::abs(u - n_a * n_b / 2) - 0.5) / std::sqrt(variance)));
}

void check(Values values) {
    if (values.empty() || !std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
        throw Error(ErrorKind::data, "a rank test needs finite values on both sides");
}

}  // namespace

MannWhitney mann_whitney(Values a, Values b) {
    check(a);
    check(b);
    const Ranks ranks = ranks_of(a, b);
    const double n_a = static_cast<double>(a.size()), n_b = static_cast<double>(b.size());
    MannWhitney test;
    test.u = ranks.of_a / 2.0 - n_a * (n_a + 1) / 2;
    test.exact = a.size() + b.size() <= kMostExactValues;
    test.p_value = test.exact ? exact_p(ranks, a.size()) : normal_p(test.u, n_a, n_b, ranks.ties);
    return test;
}

double smallest_reachable_p(std::size_t a, std::size_t b) {
    double ways = 1;
    for (std::size_t i = 1; i <= std::min(a, b); ++i)
        ways *= static_cast<double>(a + b - std::min(a, b) + i) / static_cast<double>(i);
    return std::min(1.0, 2 / ways);
}

}  // namespace deft::reporting
