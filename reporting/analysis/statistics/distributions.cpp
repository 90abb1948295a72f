#include "reporting/analysis/statistics/distributions.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

// long double, the library's default, buys digits that nobody reads and costs several times the time.
using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using StudentT = boost::math::students_t_distribution<double, InDouble>;

}  // namespace

double normal_tail(double z) {
    return std::erfc(z / std::numbers::sqrt2) / 2;
}

double sign_test_p_value(std::size_t heads, std::size_t tails) {
    if (heads + tails == 0) return 1;
    const boost::math::binomial_distribution<double> fair(static_cast<double>(heads + tails), 0.5);
    return std::min(1.0, 2 * cdf(fair, static_cast<double>(std::min(heads, tails))));
}

double student_t_quantile(double confidence, double degrees) {
    return quantile(complement(StudentT(degrees), (1 - confidence) / 2));
}

double student_t_p_value(double t, double degrees) {
    if (std::isinf(t)) return 0;
    return 2 * cdf(complement(StudentT(degrees), std::abs(t)));
}

double f_tail(double f, double numerator_degrees, double denominator_degrees) {
    return cdf(
        complement(boost::math::fisher_f_distribution<double, InDouble>(numerator_degrees, denominator_degrees), f));
}

double noncentral_t_tail(double t, double degrees, double noncentrality) {
    return cdf(complement(boost::math::non_central_t_distribution<double, InDouble>(degrees, noncentrality), t));
}

WelchTest welch(std::span<const double> a, std::span<const double> b) {
    if (a.size() < 2 || b.size() < 2) throw Error(ErrorKind::data, "a mean needs two values to have a spread");
    const double n_a = static_cast<double>(a.size()), n_b = static_cast<double>(b.size());
    const double s_a = standard_deviation(a), s_b = standard_deviation(b);
    const double of_a = s_a * s_a / n_a, of_b = s_b * s_b / n_b;  // squared standard errors of the means
    WelchTest test;
    test.difference = mean(b) - mean(a);
    test.standard_error = std::sqrt(of_a + of_b);
    if (test.standard_error == 0) {
        test.degrees = std::numeric_limits<double>::quiet_NaN();
        test.p_value = test.difference == 0 ? 1 : 0;
        return test;
    }
    test.degrees = welch_degrees(of_a, n_a, of_b, n_b);
    test.p_value = student_t_p_value(test.difference / test.standard_error, test.degrees);
    return test;
}

double welch_degrees(double of_a, double n_a, double of_b, double n_b) {
    const double share_a = of_a / (of_a + of_b), share_b = of_b / (of_a + of_b);
    return 1 / (share_a * share_a / (n_a - 1) + share_b * share_b / (n_b - 1));
}

std::optional<Interval> prediction_interval(std::span<const double> level, const PredictionRule& rule) {
    if (level.size() < std::max<std::size_t>(rule.fewest, 2)) return std::nullopt;
    const std::span<const double> latest = level.last(std::min(rule.most, level.size()));
    const double n = static_cast<double>(latest.size());
    const double centre = mean(latest);
    const double error = standard_deviation(latest) * std::sqrt(1 + 1 / n);
    // The last term is the mean's own rounding, which a constant series must not exceed.
    const double half = student_t_quantile(rule.confidence, n - 1) * error + 1e-12 * std::abs(centre);
    return Interval{centre - half, centre + half};
}

LatestSessions latest_sessions(std::span<const double> level, const PredictionRule& rule) {
    LatestSessions result;
    if (rule.hits == 0 || level.size() <= rule.hits) return result;
    result.expected = prediction_interval(level.first(level.size() - rule.hits), rule);
    if (!result.expected) return result;
    const auto [low, high] = *result.expected;
    const std::span<const double> latest = level.last(rule.hits);
    const auto all = [&](auto beyond) { return std::all_of(latest.begin(), latest.end(), beyond); };
    if (all([&](double value) { return value > high; })) result.departure = Departure::above;
    if (all([&](double value) { return value < low; })) result.departure = Departure::below;
    return result;
}

}  // namespace deft::reporting
