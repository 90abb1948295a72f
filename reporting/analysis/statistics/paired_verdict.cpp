#include "reporting/analysis/statistics/paired_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "reporting/analysis/statistics/signed_rank.h"

namespace deft::reporting {

namespace {

double share_of_alpha(const PairedRule& rule) {
    return rule.alpha / static_cast<double>(rule.looks.size());
}

void check(const PairedRule& rule) {
    const bool grow =
        std::adjacent_find(rule.looks.begin(), rule.looks.end(), std::greater_equal<>()) == rule.looks.end();
    if (rule.looks.empty() || !grow)
        throw Error(ErrorKind::config, "the looks of a comparison must be growing counts of pairs");
    if (!(rule.alpha > 0 && rule.alpha < 1) || !(rule.margin > 0))
        throw Error(ErrorKind::config, fmt::format("a comparison with alpha {} and margin {}", rule.alpha, rule.margin),
                    "alpha lies between 0 and 1, the margin above 0");
    const std::size_t fewest = fewest_pairs(share_of_alpha(rule));
    if (rule.looks.front() < fewest)
        throw Error(ErrorKind::config,
                    fmt::format("a first look at {} pairs can decide nothing at alpha {} over {} looks",
                                rule.looks.front(), rule.alpha, rule.looks.size()),
                    fmt::format("look first at {} pairs or more", fewest));
}

std::vector<double> log_ratios(std::span<const TimedPair> pairs) {
    std::vector<double> logs;
    logs.reserve(pairs.size());
    for (const TimedPair& pair : pairs) {
        if (!(pair.base > 0 && pair.head > 0 && std::isfinite(pair.base) && std::isfinite(pair.head)))
            throw Error(ErrorKind::data, fmt::format("pair {} has the times {} and {}: both must be positive",
                                                     logs.size() + 1, pair.base, pair.head));
        logs.push_back(std::log(pair.head / pair.base));
    }
    return logs;
}

PairedEvidence look_at(std::span<const double> logs, const PairedRule& rule) {
    const HodgesLehmann centre = hodges_lehmann(logs, share_of_alpha(rule));
    const Interval interval = centre.interval.value();  // check() has seen to it that the look is large enough
    return {logs.size(),
            std::exp(centre.estimate),
            {std::exp(interval.low), std::exp(interval.high)},
            std::min(1.0, centre.p_value * static_cast<double>(rule.looks.size()))};
}

Verdict verdict_of(const PairedEvidence& seen, double margin) {
    const double slower = 1 + margin, faster = 1 / slower;
    if (seen.interval.low > 1 && seen.ratio >= slower) return Verdict::worse;
    if (seen.interval.high < 1 && seen.ratio <= faster) return Verdict::better;
    if (seen.interval.low > faster && seen.interval.high < slower) return Verdict::same;
    return Verdict::unclear;
}

}  // namespace

PairedDecision paired_verdict(std::span<const TimedPair> pairs, const PairedRule& rule) {
    check(rule);
    const std::vector<double> logs = log_ratios(pairs);
    PairedDecision decision;
    for (std::size_t look : rule.looks) {
        if (logs.size() < look) {
            decision.pairs_wanted = look;
            return decision;
        }
        decision.evidence = look_at(std::span(logs).first(look), rule);
        decision.verdict = verdict_of(*decision.evidence, rule.margin);
        if (decision.verdict != Verdict::unclear) return decision;
    }
    return decision;
}

bool wants_confirmation(const PairedDecision& first) {
    return first.verdict == Verdict::worse || first.verdict == Verdict::better;
}

Verdict confirmed(const PairedDecision& first, const PairedDecision& second) {
    return !wants_confirmation(first) || first.verdict == second.verdict ? first.verdict : Verdict::unclear;
}

double margin_above_noise(double margin, const Interval& same_code) {
    return std::max({margin, same_code.high - 1, 1 / same_code.low - 1});
}

}  // namespace deft::reporting
