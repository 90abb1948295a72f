#include "reporting/statistics/distributions.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numbers>

namespace deft::reporting {

namespace {

// long double, the library's default, buys digits that nobody reads and costs several times the time.
using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using StudentT = boost::math::students_t_distribution<double, InDouble>;

}  // namespace

double normal_tail(double z) {
    return std::erfc(z / std::numbers::sqrt2) / 2;
}

double student_t_quantile(double confidence, double degrees) {
    return quantile(complement(StudentT(degrees), (1 - confidence) / 2));
}

double student_t_p_value(double t, double degrees) {
    if (std::isinf(t)) return 0;
    return 2 * cdf(complement(StudentT(degrees), std::abs(t)));
}

}  // namespace deft::reporting
