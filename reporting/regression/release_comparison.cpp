#include "reporting/regression/release_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "reporting/regression/mann_whitney.h"

namespace deft::reporting {

namespace {

void check(std::span<const double> times) {
    if (times.empty()) throw Error(ErrorKind::data, "a release without a launch");
    for (double time : times)
        if (!(time > 0 && std::isfinite(time)))
            throw Error(ErrorKind::data, fmt::format("a launch has the median time {}: it must be positive", time));
}

// The geometric mean of the middle two where there are two, so that swapping the releases gives the reciprocal.
double median_ratio(std::span<const double> base, std::span<const double> head) {
    std::vector<double> logs;
    for (double b : base)
        for (double h : head) logs.push_back(std::log(h / b));
    std::sort(logs.begin(), logs.end());
    return std::exp((logs[(logs.size() - 1) / 2] + logs[logs.size() / 2]) / 2);
}

}  // namespace

ReleaseComparison compare_releases(std::span<const double> base, std::span<const double> head,
                                   const ReleaseRule& rule) {
    check(base);
    check(head);
    ReleaseComparison result;
    result.ratio = median_ratio(base, head);
    result.smallest_p = smallest_reachable_p(base.size(), head.size());
    if (result.smallest_p >= rule.alpha) return result;
    result.p_value = mann_whitney(base, head).p_value;
    if (*result.p_value > rule.alpha) return result;
    const double slower = 1 + rule.smallest_change;
    if (result.ratio >= slower) result.verdict = Verdict::worse;
    if (result.ratio <= 1 / slower) result.verdict = Verdict::better;
    return result;
}

}  // namespace deft::reporting
