#pragma once
// Is one recipe worse than another by more than a margin named beforehand? The unit is the seed: items of a test set
// distinguish two checkpoints, not two recipes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reporting/analysis/statistics/contrast.h"
#include "reporting/analysis/statistics/verdict.h"

namespace deft::reporting {

struct SeedRule {
    Improves improves = Improves::upwards;
    double margin = 0;        // how much worse is still no worse, in the measure's units; above 0
    double confidence = 0.9;  // of the interval: either verdict is wrong at most half the rest of the time
    // The standard error of the difference that the test set's own size leaves (items paired): no number of seeds
    // lowers it.
    double item_error = 0;
    std::optional<PooledVariance> pooled = {};
};

enum class SeedVerdict { not_worse, worse, unclear };

struct SeedComparison {
    ContrastMethod method = ContrastMethod::welch;
    double difference = 0;                   // mean of head - mean of base
    std::optional<Interval> interval;        // of the difference; nothing below kFewestSeeds, or without any spread
    double standard_error = 0, degrees = 0;  // that the interval is made of; 0 without one
    std::optional<SeedVerdict> verdict;      // nothing below kFewestSeeds on either side
    // More seeds on either side that would settle it, were difference and spread to stay what they are; without a
    // verdict, those that bring one. 0: settled. Nothing: a thousand would not suffice, or the spread is unknown.
    std::optional<std::size_t> more_seeds;
};

// not_worse: the whole interval is better than the margin. worse: the whole interval is beyond it.
// Without any spread the interval is absent: not_worse if every seed has the same value on both sides, unclear
// otherwise. Pairing and pooling follow from what is given, never from the values. Errors: (data) no seed on a side,
// one twice, a value that is not finite (a seed that diverged is not a missing seed: decide what it counts as);
// (config) a margin, confidence or item error that makes no sense.
SeedComparison compare_seeds(std::span<const SeedScore> base, std::span<const SeedScore> head, const SeedRule& rule);

}  // namespace deft::reporting
