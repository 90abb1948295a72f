// Losses between the points of a curve, by hand.

#include "reporting/loss_curve.h"

#include <cmath>

#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

TEST_CASE("a loss is read between the points of a curve and never beyond them") {
    const LossCurve curve = {{10, 4}, {40, 2}, {160, 1}};
    CHECK(*loss_at(curve, 10) == 4);
    CHECK(*loss_at(curve, 20) == Approx(3));  // halfway in the logarithm
    CHECK(*loss_at(curve, 80) == Approx(1.5));
    CHECK(*loss_at(curve, 160) == 1);
    CHECK_FALSE(loss_at(curve, 9.9));
    CHECK_FALSE(loss_at(curve, 161));
    CHECK_FALSE(loss_at({}, 1));
    // Zero has no logarithm.
    CHECK(*loss_at({{0, 4}, {10, 2}}, 5) == 3);
    CHECK(*consumed_for({{0, 4}, {10, 2}}, 3) == 5);
}

TEST_CASE("the least that was consumed for a loss") {
    const LossCurve curve = {{10, 4}, {40, 2}, {160, 1}};
    CHECK(*consumed_for(curve, 5) == 10);
    CHECK(*consumed_for(curve, 3) == Approx(20));
    CHECK(*consumed_for(curve, 1) == 160);
    CHECK_FALSE(consumed_for(curve, 0.9));
    // Also where the curve rises again.
    CHECK(*consumed_for({{1, 3}, {4, 1}, {5, 2}, {6, 0.5}}, 2) == Approx(2));
}

TEST_CASE("the mean of curves goes as far as all of them") {
    const LossCurve mean = mean_curve({{{1, 4}, {4, 2}, {16, 0}}, {{2, 5}, {8, 3}}});
    REQUIRE(mean.size() == 3);
    CHECK(mean[0].consumed == 2);
    CHECK(mean[0].loss == Approx((3 + 5) / 2.0));
    CHECK(mean[1].consumed == 4);
    CHECK(mean[1].loss == Approx((2 + 4) / 2.0));
    CHECK(mean[2].consumed == 8);
    CHECK(mean[2].loss == Approx((1 + 3) / 2.0));
    CHECK(mean_curve({{{1, 4}, {2, 3}}, {{3, 4}, {4, 3}}}).empty());
}
