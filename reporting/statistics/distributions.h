#pragma once
// Tails and quantiles of the distributions that tests and intervals refer to. Alone in knowing the library they come
// from.

namespace deft::reporting {

// P(Z > z) of a standard normal Z.
double normal_tail(double z);
// The t with P(|T| <= t) = confidence, of Student's T. confidence in (0, 1), degrees of freedom > 0.
double student_t_quantile(double confidence, double degrees);
// P(|T| >= |t|).
double student_t_p_value(double t, double degrees);

}  // namespace deft::reporting
