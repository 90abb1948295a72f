#pragma once
// The share of the baseline's gain that a row keeps, and how sure that is. The unit is the seed.

#include <optional>
#include <vector>

#include "reporting/analysis/statistics/verdict.h"

namespace deft::reporting {

// The value by which quality is measured, as a loss, and the two values between which shares are counted.
struct QualityScale {
    Improves improves = Improves::downwards;
    std::optional<double> nothing;  // of a model without skill; nothing: unknown, and there are no shares
    std::vector<double> baseline;   // of the baseline on all of the data, one value an independent seed
};

struct RelativeQuality {
    double share = 1;                  // 1: as good as the baseline
    std::optional<Interval> interval;  // at 95%; nothing below kFewestSeeds on a side
};

// The share of what the baseline's training gained over `nothing`: (nothing - x) / (nothing - baseline). Its interval
// has the spread of both sides, each by its own seeds (Welch), through the first derivatives of the share. Nothing
// without values on a side, where `nothing` is unknown, or where the baseline has gained nothing.
std::optional<RelativeQuality> relative_quality(const std::vector<double>& values, const QualityScale& scale);

// The mean that has that share; the inverse of the above, where `nothing` is known.
double value_at_share(double share, const QualityScale& scale);

// How far the row's mean lies above the baseline's at the same budget, and the 95% interval of that by Welch's t;
// without it below kFewestSeeds on a side. Nothing without values on a side.
struct QualityDifference {
    double value = 0;
    std::optional<Interval> interval;
};
std::optional<QualityDifference> quality_difference(const std::vector<double>& row,
                                                    const std::vector<double>& baseline);

// The interval of the mean over seeds, at 95% by Student's t. Nothing below kFewestSeeds.
std::optional<Interval> mean_interval(const std::vector<double>& values);

}  // namespace deft::reporting
