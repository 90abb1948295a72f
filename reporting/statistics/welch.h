#pragma once
// The difference of two means whose spreads may differ (Welch 1947).

#include <span>

namespace deft::reporting {

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

}  // namespace deft::reporting
