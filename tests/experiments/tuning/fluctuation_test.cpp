// Curves whose fluctuation is known, and searches whose answer is.

#include "experiments/tuning/probe.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/catch.h"

using namespace deft::experiments;

namespace {

// One point a tenth of a warm-up.
std::vector<LossPoint> curve(const std::vector<double>& losses) {
    std::vector<LossPoint> points;
    for (std::size_t i = 0; i < losses.size(); ++i)
        points.push_back({static_cast<double>(i) / 10, static_cast<std::int64_t>(i), losses[i]});
    return points;
}

}  // namespace

TEST_CASE("fluctuation: a falling loss, a flat one and one within the threshold are steady") {
    CHECK(!find_fluctuation(curve({}), {}));
    CHECK(!find_fluctuation(curve({5, 4, 3, 2}), {}));
    CHECK(!find_fluctuation(curve({5, 5, 5}), {}));
    CHECK(!find_fluctuation(curve({5, 4, 4.039, 3.9}), {}));
}

TEST_CASE("fluctuation: the first point above the running minimum by more than the threshold") {
    const auto found = find_fluctuation(curve({5, 4, 4.03, 3, 3.06, 9}), {});
    REQUIRE(found);
    CHECK(found->point == 4);
    CHECK(found->minimum == 3);
    CHECK(found->excess == Approx(0.02));
    CHECK(!find_fluctuation(curve({5, 4, 4.03, 3, 3.06}), {.threshold = 0.03}));
}

TEST_CASE("fluctuation: a slow rise adds up against the minimum") {
    CHECK(find_fluctuation(curve({4, 4.015, 4.03, 4.045}), {})->point == 3);
}

TEST_CASE("fluctuation: only so many warm-ups are looked at, their end included") {
    std::vector<double> losses(40, 3.0);
    losses[31] = 4;
    CHECK(!find_fluctuation(curve(losses), {}));
    losses[30] = 4;
    CHECK(find_fluctuation(curve(losses), {})->point == 30);
    CHECK(!find_fluctuation(curve(losses), {.warmups = 2}));
}

TEST_CASE("fluctuation: what is no number is one") {
    for (const double loss : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        const auto found = find_fluctuation(curve({5, loss}), {});
        REQUIRE(found);
        CHECK(found->point == 1);
        CHECK(std::isinf(found->excess));
        CHECK(find_fluctuation(curve({loss, 5}), {})->point == 0);
    }
}

TEST_CASE("fluctuation: found where a random falling curve is lifted, and nowhere else") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 100; ++round) {
        std::vector<double> losses = {10};
        for (int i = 1; i <= 30; ++i)
            losses.push_back(losses.back() * std::uniform_real_distribution(0.9, 1.0)(random));
        CHECK(!find_fluctuation(curve(losses), {}));
        const std::size_t at = std::uniform_int_distribution<std::size_t>(1, 30)(random);
        losses[at] = losses[at - 1] * 1.02;
        const auto found = find_fluctuation(curve(losses), {});
        REQUIRE(found);
        CHECK(found->point == at);
        CHECK(found->excess == Approx(0.02));
    }
}
