#pragma once
// The variance over seeds by which recipes of one table are compared: pooled over them where one variance is plausible,
// each recipe's own (Welch) where it is not, or where the seeds suffice for that.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reporting/analysis/statistics/contrast.h"

namespace deft::reporting {

// Equal variances are the hypothesis; the spread is around medians (Brown and Forsythe 1974).
struct BrownForsythe {
    double statistic = 0;  // an F of these degrees of freedom
    double between = 0, within = 0;
    double p_value = 1;
    std::size_t recipes = 0;
};

// Over recipes of two seeds or more. Nothing below two recipes, or without a spread of the distances from the medians.
std::optional<BrownForsythe> brown_forsythe(std::span<const std::vector<double>> values_by_recipe);

// Seeds of every compared recipe from which on each recipe's own variance is used.
inline constexpr std::size_t kSeedsOfOwnVariance = 5;
// Equal variances are rejected below it: the level of a preliminary test, whose missed rejections cost more than false
// ones (Bancroft 1964).
inline constexpr double kEqualVarianceLevel = 0.25;

struct VarianceChoice {
    ContrastRule rule;  // pooled or Welch's
    std::optional<BrownForsythe> test;
};

// `fewest_seeds`: of the recipes that are compared. Without a variance to pool: Welch.
VarianceChoice choose_variance(std::span<const std::vector<double>> table, std::size_t fewest_seeds);

// "each row's own variance (Welch; Brown-Forsythe p 0.012 over 8 rows)".
std::string to_text(const VarianceChoice& choice);

}  // namespace deft::reporting
