#include "reporting/analysis/quality/measured_row.h"

#include <cmath>

#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

TEST_CASE("late loss of a constant curve is the constant, whatever its points") {
    CHECK(*late_loss({{10, 9}, {40, 3}, {60, 3}, {100, 3}}, 80) == Approx(3));
    CHECK(*late_loss({{1, 3}, {41, 3}, {42, 3}, {100, 3}}, 80) == Approx(3));
}

// Computed by hand: loss = log2(tokens) is linear in the logarithm, so interpolation is exact, and the mean over [64,
// 128] is (x ln x - x) / ln 2 between them, over 64: (128 * 7 - 64 * 6) / 64 - 1 / ln 2 = 8 - 1.442695 = 6.557305.
TEST_CASE("late loss interpolates in the logarithm of the tokens, over the last half") {
    LossCurve curve;
    for (double tokens = 16; tokens <= 256; tokens *= 2) curve.push_back({tokens, std::log2(tokens)});
    CHECK(*late_loss(curve, 128) == Approx(6.557305).epsilon(1e-5));
    curve.insert(curve.begin() + 3, {90.5, std::log2(90.5)});  // one more point on the same line
    CHECK(*late_loss(curve, 128) == Approx(6.557305).epsilon(1e-5));
}

TEST_CASE("a curve that does not span the half has no late loss") {
    CHECK_FALSE(late_loss({}, 100));
    CHECK_FALSE(late_loss({{60, 1}, {100, 1}}, 100));          // begins too late
    CHECK_FALSE(late_loss({{10, 1}, {60, 1}, {90, 1}}, 100));  // ends too early
    CHECK_FALSE(late_loss({{10, 1}, {200, 1}}, 100));          // nothing in it
    CHECK_FALSE(late_loss({{10, 1}, {60, 1}, {90, 1}}, 0));
    CHECK(std::isnan(*late_loss({{10, 1}, {60, NAN}, {100, 1}}, 100)));
}

TEST_CASE("curves are compared as far as all of them go") {
    const LossCurve longer = {{10, 1}, {200, 1}}, shorter = {{10, 1}, {120, 1}}, none;
    CHECK(common_tokens(std::vector<const LossCurve*>{&longer, &shorter}) == 120);
    CHECK(common_tokens(std::vector<const LossCurve*>{&longer, &none}) == 0);
    CHECK(common_tokens({}) == 0);
}

TEST_CASE("a value read off a clock does not measure a recipe") {
    Score score;
    score.task = "timed";
    score.better = "lower";
    score.measure = "loss";
    CHECK(measure_of(score));
    for (const char* metric : {"ms_per_token", "tokens_per_second"}) {
        score.measure = metric;
        CHECK_FALSE(measure_of(score));
    }
}

TEST_CASE("curves come from the points of a trial, a thousand of them as few") {
    results_db::TrialCurve trial;
    for (std::int64_t step = 1; step <= 1024; ++step) {
        journal::TrainPoint point;
        point.step = step;
        point.layer_tokens = 10 * step;
        point.loss = step % 2 == 0 ? 2 : 4;
        trial.points.push_back(point);
    }
    const LossCurve curve = training_curve(trial);
    REQUIRE(curve.size() == kMostCurvePoints);
    CHECK(curve.front().consumed == Approx(25));  // of steps 1 to 4
    CHECK(curve.front().loss == Approx(3));
    trial.validation_losses = {{0, 9}, {100, 3.5}, {101, 3.4}, {2000, 3.2}};
    const LossCurve validation = validation_curve(trial);
    REQUIRE(validation.size() == 3);  // before the first step nothing was consumed
    CHECK(validation[0].consumed == 1000);
    CHECK(validation[0].loss == 3.5);
    CHECK(validation[2].consumed == 10240);
}
