#pragma once
// Metrics of classification and regression, as in GLUE (Wang et al. 2019, table 1).

#include <cstdint>
#include <span>
#include <vector>

namespace deft::experiments {

// Counts for two classes, where the second is the positive one.
struct BinaryCounts {
    std::int64_t true_positives = 0, true_negatives = 0, false_positives = 0, false_negatives = 0;

    void add(bool gold, bool predicted);
};

// Whether both classes are predicted and both occur: a correlation with a constant has no value.
bool has_matthews(const BinaryCounts& counts);
// (TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN)); 0 where the root is 0.
double matthews_correlation(const BinaryCounts& counts);
// 2 TP / (2 TP + FP + FN); 0 where the divisor is 0.
double binary_f1(const BinaryCounts& counts);

// Both sides have the same length; NaN where either side is constant, or empty.
double pearson_correlation(std::span<const double> a, std::span<const double> b);
// Pearson's of the ranks, of which equal numbers share their mean.
double spearman_correlation(std::span<const double> a, std::span<const double> b);

// From 1 on, in the order of the numbers.
std::vector<double> average_ranks(std::span<const double> values);

}  // namespace deft::experiments
