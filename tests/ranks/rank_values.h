#pragma once
// Values that ranks sum in tests, which each of them knows of all.

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace deft::test {

// A rank's values before they meet; of different magnitudes, so that the order of a sum shows.
template <class Real>
std::vector<Real> values_of_rank(int rank, std::int64_t count) {
    std::mt19937_64 random(static_cast<std::uint64_t>(rank) * 1000 + static_cast<std::uint64_t>(count));
    std::vector<Real> values;
    for (std::int64_t i = 0; i < count; ++i) {
        const double mantissa = static_cast<double>(random() % 1000) - 500;
        values.push_back(static_cast<Real>(std::ldexp(mantissa, static_cast<int>(random() % 30))));
    }
    return values;
}

template <class Real>
std::vector<Real> sum_in_order(int ranks, std::int64_t count) {
    std::vector<Real> sum = values_of_rank<Real>(0, count);
    for (int r = 1; r < ranks; ++r) {
        const std::vector<Real> other = values_of_rank<Real>(r, count);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
    }
    return sum;
}

}  // namespace deft::test
