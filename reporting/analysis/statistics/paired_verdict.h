#pragma once
// The gate on times: is head slower than base by more than a margin? Pairs of times taken side by side, in random order
// within a pair, so that whatever slows the machine slows both.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "reporting/analysis/statistics/verdict.h"

namespace deft::reporting {

// Two times in one unit; the reciprocals, where a rate was measured.
struct TimedPair {
    double base = 0, head = 0;
};

// The thresholds, frozen before anything is measured.
struct PairedRule {
    double margin = 0.02;                           // head / base from 1 + margin is worse, to 1 / (1 + margin) better
    double alpha = 0.01;                            // chance of a false better or worse over all looks together
    std::vector<std::size_t> looks = {24, 48, 96};  // counts of pairs; every look takes an equal share of alpha
};

struct PairedEvidence {
    std::size_t pairs = 0;  // of the look: the first ones
    double ratio = 1;       // head / base: exp of the Hodges-Lehmann centre of ln(head / base)
    Interval interval;      // of the ratio, at confidence 1 - alpha / looks
    double p_value = 1;     // signed-rank, two-sided, times the number of looks: alpha is what it compares with
};

struct PairedDecision {
    Verdict verdict = Verdict::unclear;
    std::size_t pairs_wanted = 0;            // in all, before the next look; 0: this verdict is the last word
    std::optional<PairedEvidence> evidence;  // nothing before the first look
};

// Given all pairs so far, in the order measured. Looks are taken in turn and the first that decides holds, whatever
// follows: the same pairs in two portions or one give the same verdict.
//   worse   the interval lies above 1 and the ratio is at least 1 + margin; better mirrors it
//   same    the interval lies inside the margin
//   unclear neither: more pairs are wanted, until the last look
// Errors: (data) a time that is not positive and finite; (config) looks that do not grow, or a first one with too few
// pairs for its share of alpha.
PairedDecision paired_verdict(std::span<const TimedPair> pairs, const PairedRule& rule);

// A better or worse must show itself twice: measured again by fresh processes in a new order.
bool wants_confirmation(const PairedDecision& first);
// The verdict after that, unclear where the second is another one than the first. The second's last word, by the same
// rule: it has looks and an alpha of its own.
Verdict confirmed(const PairedDecision& first, const PairedDecision& second);

// The margin of a case on a machine whose comparison of base with itself gave this interval of the ratio: what
// identical code can show does not count as a regression.
double margin_above_noise(double margin, const Interval& same_code);

}  // namespace deft::reporting
