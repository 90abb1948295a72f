#pragma once
// A claim as a test: contrasts of recipes against thresholds, and how likely what was seen would be by chance.

#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/claims/claim_values.h"
#include "reporting/analysis/published/claim.h"
#include "reporting/analysis/statistics/contrast.h"
#include "reporting/analysis/statistics/variance_choice.h"

namespace deft::reporting {

struct ClaimRule {
    double level =
        0.05;  // none of a table's claims that is at its threshold is called with a greater chance to hold, nor to fail
    double power = 0.8;  // of the smallest effect that a finding names
};

// A contrast that must lie above its threshold for the claim to hold. Larger is better.
struct ClaimPart {
    std::vector<ContrastTerm> terms;
    double threshold = 0;
    ContrastRule rule;
    Contrast found;
    bool is_turned = false;  // the other row less the claim's own, as one side of equal_within
};

struct ClaimTest {
    VarianceChoice variance;       // by which the parts are tested, unless the claim is judged seed by seed
    std::vector<ClaimPart> parts;  // all of them must
    bool is_logarithmic = false;   // ratios: values are compared by their logarithms
    double holds_by_chance = 1, fails_by_chance = 1;          // unadjusted
    double own_holds_by_chance = 1, own_fails_by_chance = 1;  // by each row's own variance (Welch), whatever was chosen
    std::optional<double> paired_holds_by_chance,
        paired_fails_by_chance;  // seed by seed, where all rows have the same seeds
    // Only for closes_gap: the share of the gap that is closed, and its interval at twice the level; empty where the
    // gap itself is not significant.
    std::optional<double> share;
    std::optional<Interval> share_interval;
};

// The rows in the claim's order: of, against, from; of best_in_column first `of` and then all others. Each has two
// seeds or more. Errors: as contrast(); data, for a ratio of values that are not positive.
ClaimTest test_claim(const Claim& claim, const ClaimScale& scale, const std::vector<ClaimValues>& rows,
                     const std::vector<std::vector<double>>& table, const ClaimRule& rule);

}  // namespace deft::reporting
