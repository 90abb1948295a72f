#include "reporting/analysis/statistics/variance_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reporting/analysis/statistics/distributions.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Without the distance of the median from itself, which is 0 whatever the spread: with it the test rejects next to
// nothing at three seeds (Hines and Hines 2000).
std::vector<double> distances_from_median(const std::vector<double>& values) {
    const double middle = median_of(values);
    std::vector<double> distances;
    for (const double value : values) distances.push_back(std::abs(value - middle));
    if (values.size() % 2 == 1) distances.erase(std::find(distances.begin(), distances.end(), 0.0));
    return distances;
}

}  // namespace

std::optional<BrownForsythe> brown_forsythe(std::span<const std::vector<double>> values_by_recipe) {
    std::vector<std::vector<double>> recipes;
    double sum = 0, distances = 0;
    for (const std::vector<double>& values : values_by_recipe) {
        if (values.size() < 2) continue;
        recipes.push_back(distances_from_median(values));
        for (const double distance : recipes.back()) sum += distance;
        distances += static_cast<double>(recipes.back().size());
    }
    if (recipes.size() < 2 || !(sum > 0)) return std::nullopt;
    double between = 0, within = 0;
    for (const std::vector<double>& recipe : recipes) {
        const double own = mean(recipe), from_all = own - sum / distances;
        between += static_cast<double>(recipe.size()) * from_all * from_all;
        for (const double distance : recipe) within += (distance - own) * (distance - own);
    }
    // Distances that are all one in each recipe, as of made-up values, have no spread of their own to test by.
    if (within <= 1e-12 * sum * sum) return std::nullopt;
    BrownForsythe test;
    test.recipes = recipes.size();
    test.between = static_cast<double>(recipes.size()) - 1;
    test.within = distances - static_cast<double>(recipes.size());
    test.statistic = (between / test.between) / (within / test.within);
    test.p_value = f_tail(test.statistic, test.between, test.within);
    return test;
}

VarianceChoice choose_variance(std::span<const std::vector<double>> table, std::size_t fewest_seeds) {
    VarianceChoice choice;
    choice.test = brown_forsythe(table);
    choice.rule.pooled = pooled_variance(table);
    const bool differ = choice.test && choice.test->p_value < kEqualVarianceLevel;
    if (!choice.rule.pooled || differ || fewest_seeds >= kSeedsOfOwnVariance)
        choice.rule = {ContrastMethod::welch, std::nullopt, 0};
    return choice;
}

std::string to_text(const VarianceChoice& choice) {
    const bool is_own = choice.rule.method == ContrastMethod::welch;
    const std::string which = is_own ? "each row's own variance (Welch" : "the variance pooled over rows (";
    if (!choice.test) return which + (is_own ? ")" : "no test of equal variances)");
    return fmt::format("{}{}Brown-Forsythe p {:.2g} over {} rows)", which, is_own ? "; " : "", choice.test->p_value,
                       choice.test->recipes);
}

}  // namespace deft::reporting
