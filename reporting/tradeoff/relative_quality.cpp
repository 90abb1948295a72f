#include "reporting/tradeoff/relative_quality.h"

#include "reporting/numbers.h"
#include "reporting/statistics/contrast.h"

namespace deft::reporting {

namespace {

// A share, and how it moves with the mean of the row and with that of the baseline.
struct Share {
    double value = 0, by_row = 0, by_baseline = 0;
};

Share share_of(double row, double baseline, const QualityScale& scale) {
    if (scale.nothing) {
        const double gain = baseline - *scale.nothing, value = (row - *scale.nothing) / gain;
        return {value, 1 / gain, -value / gain};
    }
    if (scale.improves == Improves::upwards) return {row / baseline, 1 / baseline, -row / (baseline * baseline)};
    return {baseline / row, -baseline / (row * row), 1 / row};
}

// Whether the shares mean anything: the baseline has learnt more than nothing.
bool has_gain(double baseline, const QualityScale& scale) {
    const double nothing = scale.nothing.value_or(0);
    if (scale.improves == Improves::upwards) return baseline > nothing;
    return scale.nothing ? baseline < nothing : baseline > 0;
}

}  // namespace

std::optional<RelativeQuality> relative_quality(const std::vector<double>& values, const QualityScale& scale) {
    if (values.empty() || scale.baseline.empty() || !all_finite(values) || !all_finite(scale.baseline))
        return std::nullopt;
    const double row = mean(values), baseline = mean(scale.baseline);
    if (!has_gain(baseline, scale)) return std::nullopt;
    const Share share = share_of(row, baseline, scale);
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
    const double baseline = mean(scale.baseline);
    if (scale.nothing) return *scale.nothing + share * (baseline - *scale.nothing);
    return scale.improves == Improves::upwards ? share * baseline : baseline / share;
}

std::optional<Interval> mean_interval(const std::vector<double>& values) {
    if (values.size() < kFewestSeeds || !all_finite(values)) return std::nullopt;
    return interval_of(contrast(std::vector{unpaired_term(1, values)}, {ContrastMethod::welch}), kShownConfidence);
}

}  // namespace deft::reporting
