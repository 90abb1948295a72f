#include "reporting/analysis/published/published_verdict.h"

#include <cmath>
#include <random>

#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

PublishedCell printed(const char* text) {
    PublishedCell cell;
    cell.number = parse_printed(text, Place{});
    return cell;
}

std::string verdict(const std::vector<double>& values, const PublishedCell& cell, std::int64_t seeds = 0,
                    Improves improves = Improves::upwards) {
    PublishedColumn column;
    column.seeds = seeds;
    return published_verdict(values, cell, column, improves);
}

std::vector<double> around(double mean) {
    return {mean - 1, mean, mean + 1};
}

}  // namespace

// Computed by hand: sqrt(1/3 + 1/1) = 1.1547 times t(97.5%, 2) = 4.3027 are 4.968, and half of the last digit 0.05
// more: 5.018.
TEST_CASE("a printed number agrees within its rounding and what seeds differ by") {
    CHECK(verdict(around(45.01), printed("40.0")) == "agrees");
    CHECK(verdict(around(45.03), printed("40.0")) == "better");
    CHECK(verdict(around(34.99), printed("40.0")) == "agrees");
    CHECK(verdict(around(34.97), printed("40.0")) == "worse");
    CHECK(verdict(around(45.03), printed("40.0"), 0, Improves::downwards) == "worse");
    // A whole number is known to half of one.
    CHECK(verdict(around(45.4), printed("40")) == "agrees");
    CHECK(verdict(around(45.5), printed("40")) == "better");
}

// Three published seeds: sqrt(2/3) = 0.8165 times 4.3027 are 3.513; a printed spread of 3 over three: sqrt(1/3 + 9/3) =
// 1.8257, 7.855; both 0.05 more.
TEST_CASE("the printed number's own seeds and spread count where they are printed") {
    CHECK(verdict(around(43.56), printed("40.0"), 3) == "agrees");
    CHECK(verdict(around(43.57), printed("40.0"), 3) == "better");
    PublishedCell cell = printed("40.0");
    cell.spread = parse_printed("3.0", Place{});
    cell.seeds = 3;
    CHECK(verdict(around(47.9), cell) == "agrees");
    CHECK(verdict(around(47.91), cell) == "better");
}

TEST_CASE("without a spread rounding alone is forgiven, and too few seeds have no verdict") {
    CHECK(verdict({40.04, 40.04, 40.04}, printed("40.0")) == "agrees");
    CHECK(verdict({40.06, 40.06, 40.06}, printed("40.0")) == "better");
    CHECK(verdict({40, 41}, printed("40.0")) == "no verdict");
    CHECK(verdict({40, 41, NAN}, printed("40.0")) == "not finite");
}

TEST_CASE("numbers of the same recipe agree in 95% of papers") {
    const auto world = std::random_device{}();
    std::mt19937_64 random(world);
    std::normal_distribution<double> normal(40, 1);
    int agree = 0;
    constexpr int kPapers = 4000;
    for (int paper = 0; paper < kPapers; ++paper) {
        PublishedCell cell;
        cell.number = {"", normal(random), 0};
        agree += verdict({normal(random), normal(random), normal(random)}, cell) == "agrees";
    }
    CAPTURE(world, agree);
    CHECK(std::abs(agree - 0.95 * kPapers) < 0.015 * kPapers);
}
