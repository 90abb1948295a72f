#include "reporting/analysis/published/published_verdict.h"

#include <algorithm>
#include <cmath>

#include "reporting/analysis/statistics/contrast.h"
#include "reporting/analysis/statistics/distributions.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

constexpr double kConfidence = 0.95;

double printed_seeds(const PublishedCell& printed, const PublishedColumn& column) {
    return static_cast<double>(std::max<std::int64_t>({printed.seeds, column.seeds, 1}));
}

}  // namespace

std::string published_verdict(const std::vector<double>& values, const PublishedCell& printed,
                              const PublishedColumn& column, Improves improves) {
    if (!all_finite(values)) return "not finite";
    if (values.size() < kFewestSeeds) return "no verdict";
    const auto seeds = static_cast<double>(values.size());
    const double own = standard_deviation(values), theirs = printed.spread ? printed.spread->value : own;
    const double error = std::sqrt(own * own / seeds + theirs * theirs / printed_seeds(printed, column));
    const double reach = student_t_quantile(kConfidence, seeds - 1) * error + printed.number.half_unit;
    const double difference = mean(values) - printed.number.value;
    if (std::abs(difference) <= reach) return "agrees";
    return (difference > 0) == (improves == Improves::upwards) ? "better" : "worse";
}

}  // namespace deft::reporting
