// Things timed in turn: each as often as the others, in random order, and their ratio as it is.

#include "sweeps/gate/interleaved_rounds.h"

#include <cmath>
#include <random>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::sweeps;

TEST_CASE("every contestant runs once a round, the first tenth is dropped, and orders differ") {
    std::vector<int> order;
    const auto contestant = [&](int which, double seconds) {
        return Contestant{{std::to_string(which)}, [&order, which, seconds](long runs) {
                              order.push_back(which);
                              CHECK(runs >= 1);
                              return seconds;
                          }};
    };
    std::vector<Contestant> both = {contestant(0, 0.1), contestant(1, 0.2)};
    time_in_rounds(both, {20, 0.4, 7}, "both", [](const std::string& what, double) { CHECK(what == "both"); });
    REQUIRE(order.size() == 2 * 2 + 2 * 20);
    CHECK(both[0].seconds == std::vector<double>(18, 0.1));
    CHECK(both[1].seconds == std::vector<double>(18, 0.2));
    int first_is_zero = 0;
    for (std::size_t i = 4; i < order.size(); i += 2) {
        CHECK(order[i] != order[i + 1]);
        first_is_zero += order[i] == 0;
    }
    CHECK(first_is_zero > 2);
    CHECK(first_is_zero < 18);
}

TEST_CASE("a contestant runs as often as fills its segment") {
    std::vector<long> runs;
    std::vector<Contestant> slow = {{{"slow"}, [&](long count) {
                                         runs.push_back(count);
                                         return 0.02;
                                     }}};
    time_in_rounds(slow, {2, 0.1, 1}, "", [](const std::string&, double) {});
    CHECK(runs == std::vector<long>{1, 1, 5, 5});
}

TEST_CASE("a ratio of times is found under drift that is common to both") {
    std::mt19937_64 random(3);
    std::vector<double> a, b;
    for (int round = 0; round < 24; ++round) {
        const double drift = 1 + 0.5 * std::sin(round);
        const double noise = 1 + 0.01 * (static_cast<double>(random() % 1000) / 500 - 1);
        a.push_back(0.55 * drift * noise);
        b.push_back(drift);
    }
    const TimeRatio ratio = time_ratio(a, b);
    CHECK(ratio.ratio == Approx(0.55).epsilon(0.01));
    REQUIRE(ratio.interval.has_value());
    CHECK(ratio.interval->low <= 0.5525);
    CHECK(ratio.interval->high >= 0.5475);
    CHECK(to_text({0.5, {}}) == "0.500");
    CHECK(to_text({0.5, reporting::Interval{0.4, 0.6}}) == "0.500 [0.400, 0.600]");
}

TEST_CASE("a time that is none is refused by its contestant's names") {
    std::vector<Contestant> broken = {{{"broken", "clock"}, [](long) { return 0.0; }}};
    CHECK_THAT(test::refusal(ErrorKind::data,
                             [&] {
                                 time_in_rounds(broken, {2, 0.1, 1}, "", [](const std::string&, double) {});
                             }),
               ContainsSubstring("broken, clock took 0 seconds"));
}
