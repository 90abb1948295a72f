#include "reporting/analysis/statistics/case_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "reporting/analysis/statistics/distributions.h"
#include "reporting/numbers.h"

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

namespace {

// Their places, the smallest first.
std::vector<std::size_t> in_order(std::span<const double> p_values) {
    for (double p : p_values)
        if (!(p >= 0 && p <= 1)) throw Error(ErrorKind::data, fmt::format("{} is not a p-value", p));
    std::vector<std::size_t> by_p(p_values.size());
    std::iota(by_p.begin(), by_p.end(), std::size_t{0});
    std::sort(by_p.begin(), by_p.end(), [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
    return by_p;
}

}  // namespace

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
    const std::vector<std::size_t> by_p = in_order(p_values);
    std::vector<double> adjusted(p_values.size());
    double smallest = 1;  // of those with a larger p
    for (std::size_t rank = by_p.size(); rank >= 1; --rank) {
        const double scaled = p_values[by_p[rank - 1]] * static_cast<double>(by_p.size()) / static_cast<double>(rank);
        smallest = std::min(smallest, scaled);
        adjusted[by_p[rank - 1]] = smallest;
    }
    return adjusted;
}

std::vector<double> holm(std::span<const double> p_values) {
    const std::vector<std::size_t> by_p = in_order(p_values);
    std::vector<double> adjusted(p_values.size());
    double largest = 0;  // of those with a smaller p
    for (std::size_t rank = 0; rank < by_p.size(); ++rank) {
        largest = std::max(largest, std::min(1.0, p_values[by_p[rank]] * static_cast<double>(by_p.size() - rank)));
        adjusted[by_p[rank]] = largest;
    }
    return adjusted;
}

}  // namespace deft::reporting
