#pragma once
// One release against another, measured at different times: advice, never a gate, since whatever else changed on the
// machine in between counts as the release's.

#include <optional>
#include <span>

#include "reporting/regression/verdict.h"

namespace deft::reporting {

struct ReleaseRule {
    double alpha = 0.01;
    double smallest_change = 0.03;  // the slower release's time over the faster one's, less 1
};

struct ReleaseComparison {
    double smallest_p = 1;               // that these numbers of launches can reach
    std::optional<double> p_value;       // Mann-Whitney; nothing where smallest_p is not below alpha: no test was made
    double ratio = 1;                    // head / base: the median over all pairs of launches
    Verdict verdict = Verdict::unclear;  // better, worse or unclear: what a rank test does not see may be there
};

// The median time of each launch of either release, positive and finite; errors (data) otherwise, and for no launches.
ReleaseComparison compare_releases(std::span<const double> base, std::span<const double> head,
                                   const ReleaseRule& rule = {});

}  // namespace deft::reporting
