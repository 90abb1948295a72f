#include <cmath>
#include <vector>

#include "base/error.h"
#include "reporting/analysis/statistics/distributions.h"
#include "tests/catch.h"
#include "tests/reporting/statistics/ten_sessions.h"

using namespace deft;
using namespace deft::reporting;

namespace {

using Values = std::vector<double>;

}  // namespace

// Computed by hand: {1, 2, 3} has the mean 2 and the variance 1, {2, 4, 6, 8} the mean 5 and the variance 20/3. The
// squared standard errors are 1/3 and 5/3, together 2; degrees 2^2 / ((1/3)^2 / 2 + (5/3)^2 / 3) = 4 / (53/54) =
// 216/53.
TEST_CASE("Welch's test by hand") {
    const WelchTest test = welch(Values{1, 2, 3}, Values{2, 4, 6, 8});
    CHECK(test.difference == Approx(3));
    CHECK(test.standard_error == Approx(std::sqrt(2.0)));
    CHECK(test.degrees == Approx(216.0 / 53));
}

// SciPy 1.17: ttest_ind(b, a, equal_var=False).
TEST_CASE("Welch's test as SciPy has it") {
    const WelchTest test = welch(Values{10.1, 9.9, 10.0, 10.3}, Values{11.0, 10.2, 10.9, 11.4, 10.6});
    CHECK(test.difference / test.standard_error == Approx(3.4114186769555346));
    CHECK(test.degrees == Approx(5.342164849766103));
    CHECK(test.p_value == Approx(0.017137747649629845));
}

TEST_CASE("values without a spread differ or do not") {
    CHECK(welch(Values{1, 1}, Values{1, 1}).p_value == 1);
    CHECK(welch(Values{1, 1}, Values{2, 2}).p_value == 0);
    CHECK(welch(Values{1, 1, 1}, Values{2, 3, 4}).degrees == Approx(2));
    CHECK_THROWS_AS(welch(Values{1}, Values{1, 2}), Error);
}

// Printed tables: t at 95% and 2 degrees, 99% and 9, 90% and 4; and the normal distribution's 1.959964.
TEST_CASE("quantiles of Student's t") {
    CHECK(student_t_quantile(0.95, 2) == Approx(4.302653));
    CHECK(student_t_quantile(0.99, 9) == Approx(3.249836));
    CHECK(student_t_quantile(0.90, 4) == Approx(2.131847));
    CHECK(student_t_quantile(0.95, 1e9) == Approx(1.959964));
    CHECK(student_t_p_value(4.302653, 2) == Approx(0.05).epsilon(1e-5));
    CHECK(student_t_p_value(-4.302653, 2) == Approx(0.05).epsilon(1e-5));
    CHECK(student_t_p_value(INFINITY, 2) == 0);
    CHECK(normal_tail(1.959964) == Approx(0.025).epsilon(1e-5));
    CHECK(normal_tail(0) == 0.5);
}

// Computed by hand: t = 3.249836 at 99% and 9 degrees, times sqrt(1.1): 3.408453 either way of 10.
TEST_CASE("the prediction interval by hand") {
    const auto interval = prediction_interval(ten_sessions());
    REQUIRE(interval);
    CHECK(interval->high == Approx(13.408453).epsilon(1e-6));
    CHECK(interval->low == Approx(6.591547).epsilon(1e-6));
    CHECK_FALSE(prediction_interval(Values(9, 1.0)));
}

TEST_CASE("only the latest sessions predict") {
    Values values(30, 1000.0);
    for (int i = 0; i < 64; ++i) values.push_back(10 + i % 2);
    CHECK(prediction_interval(values)->high < 20);
}

TEST_CASE("two sessions in a row beyond one end are a departure") {
    const auto departure = [](double first, double second) {
        Values level = ten_sessions();
        level.insert(level.end(), {first, second});
        return latest_sessions(level).departure;
    };
    CHECK(departure(13.5, 14) == Departure::above);
    CHECK(departure(6, 6.5) == Departure::below);
    CHECK(departure(13.5, 13.3) == Departure::none);
    CHECK(departure(10, 14) == Departure::none);
    CHECK(departure(6, 14) == Departure::none);
    Values short_level = ten_sessions();
    short_level.insert(short_level.end(), 1, 99.0);  // nine before the latest two
    CHECK_FALSE(latest_sessions(short_level).expected);
    CHECK(latest_sessions(short_level).departure == Departure::none);
    CHECK_FALSE(latest_sessions(Values{}).expected);
    CHECK(latest_sessions(Values(30, 0.1)).departure == Departure::none);  // whose mean is not 0.1
}
