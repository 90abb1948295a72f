#include "reporting/statistics/distributions.h"

#include <cmath>
#include <vector>

#include "tests/catch.h"

using namespace deft::reporting;

namespace {

using Values = std::vector<double>;

// Ten sessions with the mean 10 and the standard deviation 1: five at 10 - c and five at 10 + c, c = sqrt(0.9).
Values ten_sessions() {
    const double c = std::sqrt(0.9);
    Values values;
    for (int i = 0; i < 5; ++i) values.insert(values.end(), {10 - c, 10 + c});
    return values;
}

}  // namespace

// By hand: t = 3.249836 at 99% and 9 degrees, times sqrt(1.1): 3.408453 either way of 10.
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
