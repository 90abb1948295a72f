#include "reporting/statistics/seed_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "reporting/numbers.h"
#include "reporting/statistics/distributions.h"

namespace deft::reporting {

namespace {

constexpr std::size_t kMostSeeds = 1000;  // that a forecast goes to
constexpr double kPriorDegrees = 6;       // of the table's variance against a recipe's own

using BySeed = std::map<std::int64_t, double>;

BySeed by_seed(std::span<const SeedScore> scores, const char* side) {
    BySeed values;
    for (const SeedScore& score : scores) {
        if (!std::isfinite(score.value))
            throw Error(ErrorKind::data, fmt::format("seed {} of {} has the value {}", score.seed, side, score.value),
                        "decide what a seed that diverged counts as before comparing");
        if (!values.emplace(score.seed, score.value).second)
            throw Error(ErrorKind::data, fmt::format("seed {} of {} is there twice", score.seed, side));
    }
    if (values.empty()) throw Error(ErrorKind::data, fmt::format("no seed of {} to compare", side));
    return values;
}

void check(const SeedRule& rule) {
    const bool sound = rule.margin > 0 && std::isfinite(rule.margin) && rule.confidence > 0 && rule.confidence < 1 &&
                       rule.item_error >= 0 && std::isfinite(rule.item_error);
    if (!sound)
        throw Error(ErrorKind::config,
                    fmt::format("a comparison of seeds with margin {}, confidence {} and item error {}", rule.margin,
                                rule.confidence, rule.item_error),
                    "the margin lies above 0, the confidence between 0 and 1, the item error at 0 or above");
}

std::vector<double> values_of(const BySeed& side) {
    std::vector<double> values;
    for (const auto& [seed, value] : side) values.push_back(value);
    return values;
}

bool same_seeds(const BySeed& base, const BySeed& head) {
    return std::equal(base.begin(), base.end(), head.begin(), head.end(),
                      [](const auto& a, const auto& b) { return a.first == b.first; });
}

std::vector<double> differences_of(const BySeed& base, const BySeed& head) {
    std::vector<double> differences;
    for (const auto& [seed, value] : head) differences.push_back(value - base.at(seed));
    return differences;
}

double variance(std::span<const double> values) {
    const double deviation = standard_deviation(values);
    return deviation * deviation;
}

// All that a standard error depends on besides the numbers of seeds.
struct Spread {
    SeedMethod method;
    double of_base, of_head;  // variances; paired: 0 and the differences'
    double most_degrees;
    double item_error;
};

double shrunk(double own, std::size_t seeds, double pooled) {
    const double degrees = static_cast<double>(seeds) - 1;
    return (kPriorDegrees * pooled + degrees * own) / (kPriorDegrees + degrees);
}

Spread spread_of(const BySeed& base, const BySeed& head, const SeedRule& rule) {
    if (!rule.pooled && same_seeds(base, head))
        return {SeedMethod::paired, 0, variance(differences_of(base, head)), HUGE_VAL, rule.item_error};
    const double of_base = variance(values_of(base)), of_head = variance(values_of(head));
    if (!rule.pooled) return {SeedMethod::welch, of_base, of_head, HUGE_VAL, rule.item_error};
    return {SeedMethod::pooled, shrunk(of_base, base.size(), rule.pooled->variance),
            shrunk(of_head, head.size(), rule.pooled->variance), rule.pooled->degrees, rule.item_error};
}

struct ErrorOfDifference {
    double error = 0, degrees = 0;

    double half_width(double confidence) const {
        return error == 0 ? 0 : student_t_quantile(confidence, degrees) * error;
    }
};

// With that many seeds.
ErrorOfDifference error_of(const Spread& spread, std::size_t base_seeds, std::size_t head_seeds) {
    const double n_base = static_cast<double>(base_seeds), n_head = static_cast<double>(head_seeds);
    const double from_base = spread.of_base / n_base, from_head = spread.of_head / n_head;
    const double error = std::max(std::sqrt(from_base + from_head), spread.item_error);
    if (error == 0) return {};
    double degrees = n_head - 1;
    if (spread.method == SeedMethod::pooled) degrees = kPriorDegrees + n_base + n_head - 2;
    if (spread.method == SeedMethod::welch && from_base + from_head > 0)
        degrees = welch_degrees(from_base, n_base, from_head, n_head);
    return {error, std::min(degrees, spread.most_degrees)};
}

// The fewest more seeds on either side that bring half the interval's width below `distance`. More are never worse.
std::optional<std::size_t> more_seeds(const Spread& spread, std::size_t base_seeds, std::size_t head_seeds,
                                      double confidence, double distance) {
    const auto enough = [&](std::size_t more) {
        return error_of(spread, base_seeds + more, head_seeds + more).half_width(confidence) < distance;
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

// `harm`: how much worse head is than base.
SeedVerdict verdict_of(double harm, double half, double margin) {
    if (harm + half < margin) return SeedVerdict::not_worse;
    return harm - half > margin ? SeedVerdict::worse : SeedVerdict::unclear;
}

}  // namespace

std::optional<PooledVariance> pooled_variance(std::span<const std::vector<double>> values_by_recipe) {
    PooledVariance pooled;
    for (const std::vector<double>& values : values_by_recipe) {
        if (values.size() < 2) continue;
        const double degrees = static_cast<double>(values.size()) - 1;
        pooled.variance += degrees * variance(values);
        pooled.degrees += degrees;
    }
    if (pooled.degrees == 0) return std::nullopt;
    pooled.variance /= pooled.degrees;
    return pooled;
}

SeedComparison compare_seeds(std::span<const SeedScore> base_scores, std::span<const SeedScore> head_scores,
                             const SeedRule& rule) {
    check(rule);
    const BySeed base = by_seed(base_scores, "the base"), head = by_seed(head_scores, "the head");
    const Spread spread = spread_of(base, head, rule);
    SeedComparison result;
    result.method = spread.method;
    result.difference = mean(values_of(head)) - mean(values_of(base));

    const std::size_t fewest = std::min(base.size(), head.size());
    if (fewest < kFewestSeeds) {
        result.more_seeds = kFewestSeeds - fewest;
        return result;
    }
    const ErrorOfDifference error = error_of(spread, base.size(), head.size());
    const double half = error.half_width(rule.confidence);
    // What rounding leaves of a spread is none.
    if (half <= 1e-12 * (std::abs(mean(values_of(base))) + std::abs(mean(values_of(head))))) {
        const bool identical = base == head;
        result.verdict = identical ? SeedVerdict::not_worse : SeedVerdict::unclear;
        if (identical) result.more_seeds = 0;
        return result;
    }
    const double harm = rule.improves == Improves::upwards ? -result.difference : result.difference;
    result.interval = Interval{result.difference - half, result.difference + half};
    result.standard_error = error.error;
    result.degrees = error.degrees;
    result.verdict = verdict_of(harm, half, rule.margin);
    result.more_seeds = more_seeds(spread, base.size(), head.size(), rule.confidence, std::abs(harm - rule.margin));
    return result;
}

}  // namespace deft::reporting
