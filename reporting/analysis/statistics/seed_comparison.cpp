#include "reporting/analysis/statistics/seed_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "reporting/analysis/statistics/contrast.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

// In the order of seeds.
std::vector<SeedScore> sorted(std::span<const SeedScore> scores, const char* side) {
    std::vector<SeedScore> seeds(scores.begin(), scores.end());
    std::sort(seeds.begin(), seeds.end(), [](const SeedScore& a, const SeedScore& b) { return a.seed < b.seed; });
    if (seeds.empty()) throw Error(ErrorKind::data, fmt::format("no seed of {} to compare", side));
    return seeds;
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

double mean_of(const std::vector<SeedScore>& seeds) {
    double sum = 0;
    for (const SeedScore& seed : seeds) sum += seed.value;
    return sum / static_cast<double>(seeds.size());
}

bool same_seeds(const std::vector<SeedScore>& base, const std::vector<SeedScore>& head) {
    return std::ranges::equal(base, head, {}, &SeedScore::seed, &SeedScore::seed);
}

ContrastRule contrast_rule(const std::vector<SeedScore>& base, const std::vector<SeedScore>& head,
                           const SeedRule& rule) {
    const ContrastMethod method = rule.pooled              ? ContrastMethod::pooled
                                  : same_seeds(base, head) ? ContrastMethod::paired
                                                           : ContrastMethod::welch;
    return {method, rule.pooled, rule.item_error};
}

// `harm`: how much worse head is than base.
SeedVerdict verdict_of(double harm, double half, double margin) {
    if (harm + half < margin) return SeedVerdict::not_worse;
    return harm - half > margin ? SeedVerdict::worse : SeedVerdict::unclear;
}

}  // namespace

SeedComparison compare_seeds(std::span<const SeedScore> base_scores, std::span<const SeedScore> head_scores,
                             const SeedRule& rule) {
    check(rule);
    const std::vector<SeedScore> base = sorted(base_scores, "the base"), head = sorted(head_scores, "the head");
    const std::vector<ContrastTerm> terms = {{1, head}, {-1, base}};
    const ContrastRule by = contrast_rule(base, head, rule);
    SeedComparison result;
    result.method = by.method;
    result.difference = mean_of(head) - mean_of(base);

    const std::size_t fewest = std::min(base.size(), head.size());
    if (fewest < kFewestSeeds) {
        result.more_seeds = kFewestSeeds - fewest;
        return result;
    }
    const Contrast found = contrast(terms, by);
    if (found.standard_error == 0) {
        const bool identical =
            same_seeds(base, head) && std::ranges::equal(base, head, {}, &SeedScore::value, &SeedScore::value);
        result.verdict = identical ? SeedVerdict::not_worse : SeedVerdict::unclear;
        if (identical) result.more_seeds = 0;
        return result;
    }
    const double sign = rule.improves == Improves::upwards ? -1 : 1;
    result.interval = interval_of(found, rule.confidence);
    result.standard_error = found.standard_error;
    result.degrees = found.degrees;
    result.verdict = verdict_of(sign * found.estimate, (result.interval->high - result.interval->low) / 2, rule.margin);
    result.more_seeds = more_seeds(terms, by, sign * rule.margin, (1 - rule.confidence) / 2);
    return result;
}

}  // namespace deft::reporting
