#pragma once
// Many cases in one check: the verdicts that remain significant given the number of cases, and their summary.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "reporting/analysis/statistics/paired_verdict.h"

namespace deft::reporting {

struct CaseOutcome {
    Verdict verdict = Verdict::unclear;
    double adjusted_p = 1;  // Benjamini-Hochberg, over the cases
};

// A better or worse whose adjusted p exceeds q is unclear. A case without evidence counts with p = 1.
// Decided on the first measurements: a finding that is not significant here needs no confirmation.
std::vector<CaseOutcome> over_cases(std::span<const PairedDecision> decisions, double q = 0.05);

struct FamilySummary {
    double ratio = 1;                  // geometric mean of head / base over the cases
    std::optional<Interval> interval;  // by Student's t over the cases' logarithms; nothing below three cases
    std::size_t cases = 0;
};

// Over the cases' ratios, all positive. The interval speaks of cases like these, not of these cases measured again.
FamilySummary family_summary(std::span<const double> ratios, double confidence = 0.95);

// Many tests at once: p-values adjusted so that, of what is called at adjusted p <= q, a share q is false on average
// (Benjamini and Hochberg 1995).

// In the order given; each at least the p it came from and at most 1. Errors (data): a p outside [0, 1].
std::vector<double> benjamini_hochberg(std::span<const double> p_values);

// The same for Holm: if all tests' truths are at their thresholds, none is called at adjusted p <= level with a greater
// chance than `level` (Holm 1979). At most 1; in the order given. Errors (data): as above.
std::vector<double> holm(std::span<const double> p_values);

}  // namespace deft::reporting
