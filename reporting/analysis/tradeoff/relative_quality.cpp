#include "reporting/analysis/tradeoff/relative_quality.h"

#include "reporting/analysis/statistics/contrast.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

// A share, and how it moves with the mean of the row and with that of the baseline.
struct Share {
    double value = 0, by_row = 0, by_baseline = 0;
};

Share share_of(double row, double baseline, double nothing) {
    const double gain = baseline - nothing, value = (row - nothing) / gain;
    return {value, 1 / gain, -value / gain};
}

// Whether the shares mean anything: the baseline is better than a model without skill.
bool has_gain(double baseline, double nothing, Improves improves) {
    return improves == Improves::upwards ? baseline > nothing : baseline < nothing;
}

}  // namespace

std::optional<RelativeQuality> relative_quality(const std::vector<double>& values, const QualityScale& scale) {
    if (!scale.nothing || values.empty() || scale.baseline.empty() || !all_finite(values) ||
        !all_finite(scale.baseline))
        return std::nullopt;
    const double row = mean(values), baseline = mean(scale.baseline);
    if (!has_gain(baseline, *scale.nothing, scale.improves)) return std::nullopt;
    const Share share = share_of(row, baseline, *scale.nothing);
    RelativeQuality quality{share.value, std::nullopt};
    if (values.size() < kFewestSeeds || scale.baseline.size() < kFewestSeeds) return quality;
    Contrast spread =
        contrast(std::vector{unpaired_term(share.by_row, values), unpaired_term(share.by_baseline, scale.baseline)},
                 {ContrastMethod::welch});
    spread.estimate = share.value;
    quality.interval = interval_of(spread, kShownConfidence);
    return quality;
}

double value_at_share(double share, const QualityScale& scale) {
    return *scale.nothing + share * (mean(scale.baseline) - *scale.nothing);
}

std::optional<QualityDifference> quality_difference(const std::vector<double>& row,
                                                    const std::vector<double>& baseline) {
    if (row.empty() || baseline.empty() || !all_finite(row) || !all_finite(baseline)) return std::nullopt;
    QualityDifference difference{mean(row) - mean(baseline), std::nullopt};
    if (row.size() < kFewestSeeds || baseline.size() < kFewestSeeds) return difference;
    difference.interval =
        interval_of(contrast(std::vector{unpaired_term(1, row), unpaired_term(-1, baseline)}, {ContrastMethod::welch}),
                    kShownConfidence);
    return difference;
}

std::optional<Interval> mean_interval(const std::vector<double>& values) {
    if (values.size() < kFewestSeeds || !all_finite(values)) return std::nullopt;
    return interval_of(contrast(std::vector{unpaired_term(1, values)}, {ContrastMethod::welch}), kShownConfidence);
}

}  // namespace deft::reporting
