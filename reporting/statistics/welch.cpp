#include "reporting/statistics/welch.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "reporting/numbers.h"
#include "reporting/statistics/distributions.h"

namespace deft::reporting {

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

}  // namespace deft::reporting
