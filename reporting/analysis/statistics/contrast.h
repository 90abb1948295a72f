#pragma once
// A weighted sum of the means of recipes, as "this recipe less the baseline" or "the share of a gap that it closes",
// and how sure it is. The unit is the seed. Between recipes of one table the variance over seeds is pooled, and a
// recipe's own drawn towards it (Smyth 2004, section 3, with the prior's degrees given): from three seeds it is known
// in no other way.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reporting/analysis/statistics/verdict.h"

namespace deft::reporting {

// Per recipe; below it no verdict is given.
inline constexpr std::size_t kFewestSeeds = 3;

struct SeedScore {
    std::int64_t seed = 0;
    double value = 0;
};

// The variance over seeds, pooled over the recipes of one table: its only way to be known well from three seeds.
struct PooledVariance {
    double variance = 0;
    double degrees = 0;  // of freedom: seeds less recipes
};

// Over recipes of two seeds or more; nothing where there is none.
std::optional<PooledVariance> pooled_variance(std::span<const std::vector<double>> values_by_recipe);

struct ContrastTerm {
    double coefficient = 1;
    std::vector<SeedScore> values;  // of one recipe, a value a seed, finite
};

// A term whose seeds are irrelevant, as long as nothing is paired.
ContrastTerm unpaired_term(double coefficient, std::span<const double> values);

enum class ContrastMethod {
    pooled,  // each recipe's variance drawn towards the table's
    welch,   // each recipe's own variance (Welch 1947; its degrees for any number of terms: Satterthwaite 1946)
    paired,  // the sums of each seed: all terms have the same seeds
};

struct ContrastRule {
    ContrastMethod method = ContrastMethod::pooled;
    std::optional<PooledVariance> pooled = {};  // of the table, where that is the method
    double item_error = 0;  // the standard error that the test set's own size leaves: no number of seeds lowers it
};

struct Contrast {
    double estimate = 0;
    double standard_error = 0;  // 0: all seeds agree
    double degrees = 0;         // of freedom
    std::size_t seeds = 0;      // the fewest of any term
};

// Errors: (data) a term without a seed or with one twice, a value that is not finite, seeds that differ where they are
// paired, too few seeds for a spread; (config) no term, or no variance of
// the table to pool with.
Contrast contrast(std::span<const ContrastTerm> terms, const ContrastRule& rule);

// The chance of an estimate this far above the threshold, or farther, where the truth is at the threshold. Without a
// spread 0 or 1.
double chance_above(const Contrast& contrast, double threshold);
// The probability below it.
double chance_below(const Contrast& contrast, double threshold);

// The confidence of the intervals that pages and pictures show.
inline constexpr double kShownConfidence = 0.95;

// Two-sided. Without a spread both ends are the estimate.
Interval interval_of(const Contrast& contrast, double confidence);

// How far above a threshold the truth must be for chance_above() to fall to `level` with that power: by the noncentral
// t distribution.
double smallest_effect(const Contrast& contrast, double level, double power = 0.8);

// More seeds of every term that would bring chance_above(), or where the estimate is below it chance_below(), to
// `level`, were means and spreads to stay what they are. 0: they have. Nothing: a thousand would not do.
std::optional<std::size_t> more_seeds(std::span<const ContrastTerm> terms, const ContrastRule& rule, double threshold,
                                      double level);

}  // namespace deft::reporting
