#pragma once
// What share of the baseline's quality a row keeps, and how sure that is. The unit is the seed.

#include <optional>
#include <vector>

#include "reporting/statistics/verdict.h"

namespace deft::reporting {

// The value by which quality is told, as a loss, and the two values that stand for no quality and for all of it.
struct QualityScale {
    Improves improves = Improves::downwards;
    std::optional<double> nothing;  // of a model that has learnt nothing; nothing: unknown
    std::vector<double> baseline;   // of the baseline on all of the data, one value an independent seed
};

struct RelativeQuality {
    double share = 1;                  // 1: as good as the baseline
    std::optional<Interval> interval;  // at 95%; nothing below kFewestSeeds on a side
};

// Where `nothing` is known, the share of what the baseline's training gained over it: (nothing - x) / (nothing -
// baseline). Else the ratio of the two values, the better side of which is above 1. Its interval has the spread of both
// sides, each by its own seeds (Welch), through the first derivatives of the share. Nothing without values on a side,
// or where the baseline has gained nothing.
std::optional<RelativeQuality> relative_quality(const std::vector<double>& values, const QualityScale& scale);

// The mean that has that share; the inverse of the above.
double value_at_share(double share, const QualityScale& scale);

// Of the mean over seeds, at 95% by Student's t. Nothing below kFewestSeeds.
std::optional<Interval> mean_interval(const std::vector<double>& values);

}  // namespace deft::reporting
