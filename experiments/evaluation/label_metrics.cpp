#include "experiments/evaluation/label_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace deft::experiments {

void BinaryCounts::add(bool gold, bool predicted) {
    if (gold)
        ++(predicted ? true_positives : false_negatives);
    else
        ++(predicted ? false_positives : true_negatives);
}

bool has_matthews(const BinaryCounts& counts) {
    const std::int64_t predicted_positives = counts.true_positives + counts.false_positives;
    const std::int64_t predicted_negatives = counts.true_negatives + counts.false_negatives;
    const std::int64_t positives = counts.true_positives + counts.false_negatives;
    const std::int64_t negatives = counts.true_negatives + counts.false_positives;
    return predicted_positives > 0 && predicted_negatives > 0 && positives > 0 && negatives > 0;
}

double matthews_correlation(const BinaryCounts& counts) {
    const auto tp = static_cast<double>(counts.true_positives), tn = static_cast<double>(counts.true_negatives);
    const auto fp = static_cast<double>(counts.false_positives), fn = static_cast<double>(counts.false_negatives);
    const double root = std::sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn));
    return root == 0 ? 0 : (tp * tn - fp * fn) / root;
}

double binary_f1(const BinaryCounts& counts) {
    const auto twice = 2 * static_cast<double>(counts.true_positives);
    const double divisor = twice + static_cast<double>(counts.false_positives + counts.false_negatives);
    return divisor == 0 ? 0 : twice / divisor;
}

double pearson_correlation(std::span<const double> a, std::span<const double> b) {
    if (a.size() != b.size()) throw std::logic_error("a correlation of unequally many numbers");
    const auto n = static_cast<double>(a.size());
    const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n,
                 mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
    double of_both = 0, of_a = 0, of_b = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        of_both += (a[i] - mean_a) * (b[i] - mean_b);
        of_a += (a[i] - mean_a) * (a[i] - mean_a);
        of_b += (b[i] - mean_b) * (b[i] - mean_b);
    }
    if (of_a == 0 || of_b == 0) return std::numeric_limits<double>::quiet_NaN();
    return of_both / (std::sqrt(of_a) * std::sqrt(of_b));
}

std::vector<double> average_ranks(std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
    std::vector<double> ranks(values.size());
    for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        end = std::max(end, first + 1);  // NaN equals nothing
        for (std::size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + 1 + end) / 2;
    }
    return ranks;
}

double spearman_correlation(std::span<const double> a, std::span<const double> b) {
    return pearson_correlation(average_ranks(a), average_ranks(b));
}

}  // namespace deft::experiments
