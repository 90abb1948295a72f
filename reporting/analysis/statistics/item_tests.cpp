#include "reporting/analysis/statistics/item_tests.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "reporting/analysis/statistics/distributions.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

constexpr double kItemConfidence = 0.95;

void require_pairs(std::size_t a, std::size_t b, std::size_t fewest) {
    if (a != b) throw Error(ErrorKind::data, "two models that answered other documents cannot be compared by them");
    if (a < fewest) throw Error(ErrorKind::data, "too few documents to compare two models by");
}

// The differences' mean with Student's interval, and its p.
ItemTest of_differences(const std::vector<double>& differences) {
    ItemTest test;
    test.documents = differences.size();
    test.difference = mean(differences);
    if (differences.size() < 2) return test;
    const auto n = static_cast<double>(differences.size());
    const double error = standard_deviation(differences) / std::sqrt(n);
    if (error == 0) return test;
    const double reach = student_t_quantile(kItemConfidence, n - 1) * error;
    test.interval = Interval{test.difference - reach, test.difference + reach};
    test.p_value = student_t_p_value(test.difference / error, n - 1);
    return test;
}

}  // namespace

ItemTest mcnemar(std::span<const bool> a, std::span<const bool> b) {
    require_pairs(a.size(), b.size(), 1);
    std::vector<double> differences;
    std::size_t a_alone = 0, b_alone = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        differences.push_back(static_cast<double>(b[i]) - static_cast<double>(a[i]));
        a_alone += a[i] && !b[i];
        b_alone += b[i] && !a[i];
    }
    ItemTest test = of_differences(differences);
    test.p_value = sign_test_p_value(a_alone, b_alone);
    return test;
}

ItemTest paired_items(std::span<const double> a, std::span<const double> b) {
    require_pairs(a.size(), b.size(), 2);
    std::vector<double> differences;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!std::isfinite(a[i]) || !std::isfinite(b[i]))
            throw Error(ErrorKind::data, "a document's value is not finite");
        differences.push_back(b[i] - a[i]);
    }
    return of_differences(differences);
}

}  // namespace deft::reporting
