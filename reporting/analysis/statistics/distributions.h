#pragma once
// Tails and quantiles of the distributions that tests and intervals refer to. Alone in knowing the library they come
// from.

#include <cstddef>
#include <optional>
#include <span>

#include "reporting/analysis/statistics/verdict.h"

namespace deft::reporting {

// P(Z > z) of a standard normal Z.
double normal_tail(double z);
// The t with P(|T| <= t) = confidence, of Student's T. confidence in (0, 1), degrees of freedom > 0.
double student_t_quantile(double confidence, double degrees);
// P(|T| >= |t|).
double student_t_p_value(double t, double degrees);

// P(F > f) of Fisher's F.
double f_tail(double f, double numerator_degrees, double denominator_degrees);

// How often so uneven a split, or a more uneven one, comes of fair coins: two-sided, exact. 1 where there is none.
double sign_test_p_value(std::size_t heads, std::size_t tails);

// P(T > t) of a T whose numerator's mean is `noncentrality` in place of 0.
double noncentral_t_tail(double t, double degrees, double noncentrality);

// The difference of two means whose spreads may differ (Welch 1947).

struct WelchTest {
    double difference = 0;      // mean of b - mean of a
    double standard_error = 0;  // with sample variances, divided by n - 1
    double degrees = 0;         // of freedom, by Welch and Satterthwaite; NaN where neither side has a spread
    double p_value = 1;         // two-sided; without any spread 0 for different means and 1 for equal ones
};

// Two values or more on either side; errors (data) otherwise.
WelchTest welch(std::span<const double> a, std::span<const double> b);

// Degrees of freedom of a difference of two means, from their squared standard errors (not both 0) and sample sizes.
double welch_degrees(double of_a, double n_a, double of_b, double n_b);

// Between alerts: where the next session should fall, if nothing has changed.

struct PredictionRule {
    double confidence = 0.99;            // of one session; two beyond one end in a row are what counts
    std::size_t fewest = 10, most = 64;  // sessions that the interval is made from: the latest ones
    std::size_t hits = 2;                // sessions in a row
};

// mean +- t sqrt(1 + 1/n) s over the latest sessions, all on one level. Nothing below the fewest.
std::optional<Interval> prediction_interval(std::span<const double> level, const PredictionRule& rule = {});

enum class Departure { none, above, below };

struct LatestSessions {
    std::optional<Interval> expected;  // from the sessions before the latest `hits`; nothing: too few of them
    Departure departure = Departure::none;
};

// Whether the latest sessions all fall beyond the same end of what those before them predict. `level`: the sessions
// since the last change point, oldest first.
LatestSessions latest_sessions(std::span<const double> level, const PredictionRule& rule = {});

}  // namespace deft::reporting
