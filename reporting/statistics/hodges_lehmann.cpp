#include "reporting/statistics/hodges_lehmann.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "reporting/statistics/signed_rank.h"

namespace deft::reporting {

namespace {

void check(std::span<const double> differences) {
    if (differences.empty()) throw Error(ErrorKind::data, "no differences to find the centre of");
    if (differences.size() > kMostPairs)
        throw Error(ErrorKind::data, fmt::format("{} differences, and at most {} are looked at together",
                                                 differences.size(), kMostPairs));
    if (!std::all_of(differences.begin(), differences.end(), [](double d) { return std::isfinite(d); }))
        throw Error(ErrorKind::data, "a difference that is not a finite number");
}

std::vector<double> walsh_averages(std::span<const double> differences) {
    std::vector<double> averages;
    averages.reserve(differences.size() * (differences.size() + 1) / 2);
    for (std::size_t i = 0; i < differences.size(); ++i)
        for (std::size_t j = i; j < differences.size(); ++j)
            averages.push_back(differences[i] / 2 + differences[j] / 2);
    return averages;
}

double kth_smallest(std::vector<double>& values, std::size_t k) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(k);
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

double median(std::vector<double>& values) {
    const std::size_t n = values.size();
    const double upper = kth_smallest(values, n / 2);
    return n % 2 == 1 ? upper : kth_smallest(values, n / 2 - 1) / 2 + upper / 2;
}

double p_value(const std::vector<double>& averages, const SignedRank& distribution) {
    const auto not_above = std::count_if(averages.begin(), averages.end(), [](double a) { return a <= 0; });
    const auto not_below = std::count_if(averages.begin(), averages.end(), [](double a) { return a >= 0; });
    return std::min(1.0, 2 * distribution.at_most(std::min(not_above, not_below)));
}

}  // namespace

HodgesLehmann hodges_lehmann(std::span<const double> differences, double alpha) {
    check(differences);
    const SignedRank distribution(differences.size());
    std::vector<double> averages = walsh_averages(differences);
    HodgesLehmann result;
    result.estimate = median(averages);
    result.p_value = p_value(averages, distribution);
    if (const auto critical = distribution.critical(alpha)) {
        const auto k = static_cast<std::size_t>(*critical);
        result.interval = Interval{kth_smallest(averages, k), kth_smallest(averages, averages.size() - 1 - k)};
    }
    return result;
}

}  // namespace deft::reporting
