#include "reporting/statistics/case_family.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "reporting/numbers.h"
#include "reporting/statistics/benjamini_hochberg.h"
#include "reporting/statistics/distributions.h"

namespace deft::reporting {

std::vector<CaseOutcome> over_cases(std::span<const PairedDecision> decisions, double q) {
    std::vector<double> p_values;
    for (const PairedDecision& decision : decisions)
        p_values.push_back(decision.evidence ? decision.evidence->p_value : 1);
    const std::vector<double> adjusted = benjamini_hochberg(p_values);
    std::vector<CaseOutcome> outcomes;
    for (std::size_t i = 0; i < decisions.size(); ++i) {
        const bool too_many_cases = wants_confirmation(decisions[i]) && adjusted[i] > q;
        outcomes.push_back({too_many_cases ? Verdict::unclear : decisions[i].verdict, adjusted[i]});
    }
    return outcomes;
}

FamilySummary family_summary(std::span<const double> ratios, double confidence) {
    std::vector<double> logs;
    for (double ratio : ratios) {
        if (!(ratio > 0 && std::isfinite(ratio)))
            throw Error(ErrorKind::data, fmt::format("a ratio of times that is {}", ratio));
        logs.push_back(std::log(ratio));
    }
    FamilySummary summary;
    summary.cases = logs.size();
    if (logs.empty()) return summary;
    const double centre = mean(logs);
    summary.ratio = std::exp(centre);
    if (logs.size() < 3) return summary;
    const double n = static_cast<double>(logs.size());
    const double half = student_t_quantile(confidence, n - 1) * standard_deviation(logs) / std::sqrt(n);
    summary.interval = Interval{std::exp(centre - half), std::exp(centre + half)};
    return summary;
}

}  // namespace deft::reporting
