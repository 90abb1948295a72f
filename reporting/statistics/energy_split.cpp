#include "reporting/statistics/energy_split.h"

#include <cmath>

namespace deft::reporting {

EnergySplits::EnergySplits(std::span<const double> series) : stride_(series.size() + 1), sums_(stride_ * stride_, 0.0) {
    for (std::size_t i = 0; i < series.size(); ++i) {
        double row = 0;
        for (std::size_t j = 0; j < series.size(); ++j) {
            row += std::abs(series[i] - series[j]);
            sums_[(i + 1) * stride_ + j + 1] = sums_[i * stride_ + j + 1] + row;
        }
    }
}

double EnergySplits::distances(std::size_t a, std::size_t b, std::size_t c, std::size_t d) const {
    const auto first = [&](std::size_t i, std::size_t j) { return sums_[i * stride_ + j]; };
    return first(b, d) - first(a, d) - first(b, c) + first(a, c);
}

double EnergySplits::divergence(std::size_t begin, std::size_t split, std::size_t end) const {
    const double n = static_cast<double>(split - begin), m = static_cast<double>(end - split);
    // Means of the distances: across, and among the pairs of either part (which the sums hold twice).
    const double across = distances(begin, split, split, end) / (n * m);
    const double left = distances(begin, split, begin, split) / (n * (n - 1));
    const double right = distances(split, end, split, end) / (m * (m - 1));
    return n * m / (n + m) * (2 * across - left - right);
}

std::optional<EnergySplit> EnergySplits::best(std::size_t begin, std::size_t end, std::size_t shortest) const {
    std::optional<EnergySplit> found;
    for (std::size_t split = begin + shortest; split + shortest <= end; ++split)
        for (std::size_t right = split + shortest; right <= end; ++right) {
            const double value = divergence(begin, split, right);
            if (!found || value > found->divergence) found = EnergySplit{split, value};
        }
    return found;
}

}  // namespace deft::reporting
