// Shares of the baseline's quality and their intervals, by values worked out by hand.

#include "reporting/analysis/tradeoff/relative_quality.h"

#include <limits>

#include "tests/catch.h"

using namespace deft::reporting;

namespace {

const std::vector<double> kRow = {2.2, 2.4, 2.6}, kBaseline = {1.9, 2.0, 2.1};

}  // namespace

TEST_CASE("a share is what a row gained over nothing, of what the baseline gained") {
    const auto kept = relative_quality(kRow, {Improves::downwards, 4.0, kBaseline});
    REQUIRE(kept);
    CHECK(kept->share == Approx(0.8));
    // Standard error 0.0621825 on 2.624 degrees of freedom.
    REQUIRE(kept->interval);
    CHECK(kept->interval->low == Approx(0.8 - 0.214942).epsilon(1e-5));
    CHECK(kept->interval->high == Approx(0.8 + 0.214942).epsilon(1e-5));

    const auto accuracy = relative_quality({0.4}, {Improves::upwards, 0.25, {0.5}});
    REQUIRE(accuracy);
    CHECK(accuracy->share == Approx(0.6));
    CHECK_FALSE(accuracy->interval);
}

TEST_CASE("the share is missing where the value of a model without skill is unknown") {
    CHECK_FALSE(relative_quality(kRow, {Improves::downwards, std::nullopt, kBaseline}));
    CHECK_FALSE(relative_quality(kRow, {Improves::upwards, std::nullopt, kBaseline}));
}

// Variances 0.04 and 0.01 over three seeds: standard error sqrt(0.05 / 3) = 0.1290994 on 2.941 degrees of freedom.
TEST_CASE("a difference to the baseline at the same budget has Welch's interval from three seeds on") {
    const auto difference = quality_difference(kRow, kBaseline);
    REQUIRE(difference);
    CHECK(difference->value == Approx(0.4));
    REQUIRE(difference->interval);
    CHECK(difference->interval->high - 0.4 == Approx(0.4 - difference->interval->low));
    CHECK(difference->interval->high == Approx(0.4 + 0.415604).epsilon(1e-4));
    CHECK_FALSE(quality_difference({2.2, 2.4}, kBaseline)->interval);
    CHECK_FALSE(quality_difference({}, kBaseline));
    CHECK_FALSE(quality_difference({std::numeric_limits<double>::quiet_NaN()}, kBaseline));
}

TEST_CASE("no interval below three seeds on either side, and no share without a baseline that learnt") {
    CHECK_FALSE(relative_quality({2.2, 2.4}, {Improves::downwards, 4.0, kBaseline})->interval);
    CHECK_FALSE(relative_quality(kRow, {Improves::downwards, 4.0, {1.9, 2.1}})->interval);
    CHECK_FALSE(relative_quality({}, {Improves::downwards, 4.0, kBaseline}));
    CHECK_FALSE(relative_quality(kRow, {Improves::downwards, 4.0, {}}));
    CHECK_FALSE(relative_quality(kRow, {Improves::downwards, 2.0, kBaseline}));
    CHECK_FALSE(relative_quality(kRow, {Improves::upwards, 2.0, kBaseline}));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(relative_quality({2.2, nan, 2.4}, {Improves::downwards, 4.0, kBaseline}));
    CHECK_FALSE(relative_quality(kRow, {Improves::downwards, 4.0, {nan}}));
}

TEST_CASE("the value at a share is the inverse of the share of a value") {
    for (const QualityScale& scale :
         {QualityScale{Improves::downwards, 4.0, kBaseline}, QualityScale{Improves::upwards, 0.5, kBaseline}})
        CHECK(value_at_share(relative_quality({2.4}, scale)->share, scale) == Approx(2.4));
    CHECK(value_at_share(0.95, {Improves::downwards, 4.0, kBaseline}) == Approx(2.1));
}

TEST_CASE("the interval of a mean is Student's, and wants three seeds") {
    const auto interval = mean_interval(kRow);
    REQUIRE(interval);
    CHECK(interval->low == Approx(2.4 - 0.4968275).epsilon(1e-6));
    CHECK(interval->high == Approx(2.4 + 0.4968275).epsilon(1e-6));
    CHECK_FALSE(mean_interval({2.2, 2.6}));
    CHECK_FALSE(mean_interval({}));
    CHECK_FALSE(mean_interval({1, 2, std::numeric_limits<double>::infinity()}));
}
