#include "reporting/analysis/statistics/contrast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "reporting/analysis/statistics/distributions.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

constexpr double kPriorDegrees = 6;       // of the table's variance against a recipe's own
constexpr std::size_t kMostSeeds = 1000;  // that a forecast goes to

using BySeed = std::map<std::int64_t, double>;

BySeed by_seed(const ContrastTerm& term) {
    BySeed values;
    for (const SeedScore& score : term.values) {
        if (!std::isfinite(score.value))
            throw Error(ErrorKind::data, fmt::format("seed {} has the value {}", score.seed, score.value),
                        "decide what a seed that diverged counts as before comparing");
        if (!values.emplace(score.seed, score.value).second)
            throw Error(ErrorKind::data, fmt::format("seed {} is listed twice", score.seed));
    }
    if (values.empty()) throw Error(ErrorKind::data, "no seed to compare");
    return values;
}

double variance(std::span<const double> values) {
    if (values.size() < 2) return 0;
    const double deviation = standard_deviation(values);
    return deviation * deviation;
}

std::vector<double> values_of(const BySeed& seeds) {
    std::vector<double> values;
    for (const auto& [seed, value] : seeds) values.push_back(value);
    return values;
}

// The parts of a standard error beside the numbers of seeds.
struct Spread {
    struct Part {
        double variance = 0;  // times the coefficient's square
        std::size_t seeds = 0;
    };
    std::vector<Part> parts;
    std::optional<PooledVariance> pooled;
    double item_error = 0;

    Contrast with_more(std::size_t more) const {
        Contrast result;
        double squares = 0, own_degrees = 0, of_squares = 0;
        result.seeds = parts.front().seeds + more;
        for (const Part& part : parts) {
            const auto seeds = static_cast<double>(part.seeds + more);
            const double of_mean = part.variance / seeds;
            squares += of_mean;
            own_degrees += seeds - 1;
            if (of_mean > 0) of_squares += of_mean * of_mean / (seeds - 1);
            result.seeds = std::min(result.seeds, part.seeds + more);
        }
        result.standard_error = std::max(std::sqrt(squares), item_error);
        const double more_degrees = static_cast<double>(more * parts.size());
        result.degrees = pooled           ? std::min(kPriorDegrees + own_degrees, pooled->degrees + more_degrees)
                         : of_squares > 0 ? squares * squares / of_squares
                                          : own_degrees;
        return result;
    }
};

std::vector<double> sums_by_seed(std::span<const ContrastTerm> terms) {
    BySeed sums;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const BySeed values = by_seed(terms[i]);
        if (i > 0 && values.size() != sums.size())
            throw Error(ErrorKind::data, "recipes of other seeds cannot be compared seed by seed");
        for (const auto& [seed, value] : values) {
            if (i > 0 && !sums.contains(seed))
                throw Error(ErrorKind::data, fmt::format("seed {} is not there on all sides", seed),
                            "compare by the pooled variance");
            sums[seed] += terms[i].coefficient * value;
        }
    }
    return values_of(sums);
}

Spread spread_of(std::span<const ContrastTerm> terms, const ContrastRule& rule) {
    Spread spread;
    spread.item_error = rule.item_error;
    if (terms.empty()) throw Error(ErrorKind::config, "a comparison of no recipe");
    if (rule.method == ContrastMethod::paired) {
        const std::vector<double> sums = sums_by_seed(terms);
        spread.parts.push_back({variance(sums), sums.size()});
        return spread;
    }
    if (rule.method == ContrastMethod::pooled) {
        if (!rule.pooled) throw Error(ErrorKind::config, "a comparison by the table's variance without one");
        spread.pooled = rule.pooled;
    }
    for (const ContrastTerm& term : terms) {
        const std::vector<double> values = values_of(by_seed(term));
        const double own_degrees = static_cast<double>(values.size()) - 1;
        double of_recipe = variance(values);
        if (spread.pooled)
            of_recipe =
                (kPriorDegrees * spread.pooled->variance + own_degrees * of_recipe) / (kPriorDegrees + own_degrees);
        spread.parts.push_back({term.coefficient * term.coefficient * of_recipe, values.size()});
    }
    return spread;
}

double estimate_of(std::span<const ContrastTerm> terms) {
    double estimate = 0;
    for (const ContrastTerm& term : terms) estimate += term.coefficient * mean(values_of(by_seed(term)));
    return estimate;
}

// A spread at the level of rounding counts as none.
double without_rounding(double standard_error, std::span<const ContrastTerm> terms) {
    double scale = 0;
    for (const ContrastTerm& term : terms) scale += std::abs(term.coefficient * mean(values_of(by_seed(term))));
    return standard_error <= 1e-13 * scale ? 0 : standard_error;
}

// P(T > t).
double tail(double t, double degrees) {
    const double both = student_t_p_value(t, degrees);
    return t > 0 ? both / 2 : 1 - both / 2;
}

// The estimate's distance above a threshold, in standard errors.
double chance_of_distance(double distance, const Contrast& contrast) {
    if (contrast.standard_error == 0) return distance > 0 ? 0 : 1;
    return tail(distance / contrast.standard_error, contrast.degrees);
}

}  // namespace

ContrastTerm unpaired_term(double coefficient, std::span<const double> values) {
    ContrastTerm term{coefficient, {}};
    for (const double value : values) term.values.push_back({static_cast<std::int64_t>(term.values.size()), value});
    return term;
}

std::optional<PooledVariance> pooled_variance(std::span<const std::vector<double>> values_by_recipe) {
    PooledVariance pooled;
    for (const std::vector<double>& values : values_by_recipe) {
        if (values.size() < 2) continue;
        const double degrees = static_cast<double>(values.size()) - 1, deviation = standard_deviation(values);
        pooled.variance += degrees * deviation * deviation;
        pooled.degrees += degrees;
    }
    if (pooled.degrees == 0) return std::nullopt;
    pooled.variance /= pooled.degrees;
    return pooled;
}

Contrast contrast(std::span<const ContrastTerm> terms, const ContrastRule& rule) {
    Contrast result = spread_of(terms, rule).with_more(0);
    if (!(result.degrees > 0)) throw Error(ErrorKind::data, "one seed has no spread to compare by", "train more seeds");
    result.estimate = estimate_of(terms);
    result.standard_error = without_rounding(result.standard_error, terms);
    return result;
}

double chance_above(const Contrast& contrast, double threshold) {
    return chance_of_distance(contrast.estimate - threshold, contrast);
}

double chance_below(const Contrast& contrast, double threshold) {
    return chance_of_distance(threshold - contrast.estimate, contrast);
}

Interval interval_of(const Contrast& contrast, double confidence) {
    if (contrast.standard_error == 0) return {contrast.estimate, contrast.estimate};
    const double half = student_t_quantile(confidence, contrast.degrees) * contrast.standard_error;
    return {contrast.estimate - half, contrast.estimate + half};
}

double smallest_effect(const Contrast& contrast, double level, double power) {
    if (contrast.standard_error == 0) return 0;
    const double critical = student_t_quantile(1 - 2 * level, contrast.degrees);
    double low = 0, high = critical + 20;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (noncentral_t_tail(critical, contrast.degrees, middle) < power ? low : high) = middle;
    }
    return high * contrast.standard_error;
}

std::optional<std::size_t> more_seeds(std::span<const ContrastTerm> terms, const ContrastRule& rule, double threshold,
                                      double level) {
    const Spread spread = spread_of(terms, rule);
    const double distance = std::abs(estimate_of(terms) - threshold);
    const auto enough = [&](std::size_t more) {
        Contrast with = spread.with_more(more);
        with.standard_error = without_rounding(with.standard_error, terms);
        return with.degrees > 0 && chance_of_distance(distance, with) <= level;
    };
    std::size_t fewer = 0, more = kMostSeeds;
    if (enough(fewer)) return 0;
    if (!enough(more)) return std::nullopt;
    while (more - fewer > 1) {
        const std::size_t middle = (fewer + more) / 2;
        (enough(middle) ? more : fewer) = middle;
    }
    return more;
}

}  // namespace deft::reporting
