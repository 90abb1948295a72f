#include "reporting/analysis/statistics/signed_rank.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"
#include "tests/catch.h"

using namespace deft::reporting;
using namespace deft;

// Computed by hand: the eight subsets of {1, 2, 3} have the sums 0, 1, 2, 3, 3, 4, 5, 6.
TEST_CASE("the signed-rank distribution of three pairs") {
    const SignedRank three(3);
    const double eighths[] = {1, 2, 3, 5, 6, 7, 8};
    for (int w = 0; w <= 6; ++w) CHECK(three.at_most(w) == Approx(eighths[w] / 8).epsilon(1e-15));
    CHECK(three.at_most(-1) == 0);
    CHECK(three.at_most(7) == 1);
}

// From published tables (10, 12, 20 pairs) and, for the others, from an independent computation in Python.
TEST_CASE("critical values of the signed-rank statistic") {
    struct Row {
        std::size_t pairs;
        double alpha;
        std::int64_t critical;
    };
    const Row rows[] = {{6, 0.05, 0},       {10, 0.05, 8},       {10, 0.01, 3},       {12, 0.01, 7},
                        {20, 0.05, 52},     {20, 0.01, 37},      {24, 0.01, 61},      {48, 0.01, 339},
                        {96, 0.01, 1626},   {12, 0.01 / 3, 3},   {48, 0.05, 396},     {96, 0.05, 1791},
                        {24, 0.01 / 3, 50}, {48, 0.01 / 3, 306}, {96, 0.01 / 3, 1531}};
    for (const Row& row : rows) {
        INFO(row.pairs << " pairs at " << row.alpha);
        CHECK(SignedRank(row.pairs).critical(row.alpha) == row.critical);
    }
}

// 2^(1-n) <= alpha: 2/32 > 0.05 >= 2/64, and 2/128 > 0.01 >= 2/256.
TEST_CASE("a level of exactly 2^-k is reached by k + 1 pairs") {
    for (std::size_t k = 1; k <= 20; ++k) {
        INFO(k);
        const double alpha = std::ldexp(1.0, -static_cast<int>(k));
        CHECK(fewest_pairs(alpha) == k + 1);
        CHECK(SignedRank(k + 1).critical(alpha) == 0);  // 2 P(W <= 0) = 2 / 2^(k + 1)
        CHECK_FALSE(SignedRank(k).critical(alpha));
        CHECK(fewest_pairs(std::nextafter(alpha, 0.0)) == k + 2);
        CHECK(fewest_pairs(std::nextafter(alpha, 1.0)) == k + 1);
    }
    CHECK(SignedRank(5).critical(0.125) == 1);  // W <= 1 in two of the 32 cases
    CHECK(fewest_pairs(1) == 1);
}

TEST_CASE("too few pairs have no critical value") {
    CHECK(fewest_pairs(0.05) == 6);
    CHECK(fewest_pairs(0.01) == 8);
    CHECK_FALSE(SignedRank(5).critical(0.05));
    CHECK(SignedRank(6).critical(0.05) == 0);
    CHECK_FALSE(SignedRank(7).critical(0.01));
    CHECK(SignedRank(8).critical(0.01) == 0);
}

TEST_CASE("the normal distribution takes over where the exact one ends") {
    const SignedRank exact(kMostExactPairs), normal(kMostExactPairs + 1);
    const double n = static_cast<double>(kMostExactPairs);
    for (double z : {-2.58, -2.0, -1.0, 0.0, 1.5}) {  // the same number of deviations from either mean
        const auto at = [&](double pairs) {
            return std::floor(pairs * (pairs + 1) / 4 + z * std::sqrt(pairs * (pairs + 1) * (2 * pairs + 1) / 24));
        };
        const double ours = exact.at_most(static_cast<std::int64_t>(at(n)));
        const double theirs = normal.at_most(static_cast<std::int64_t>(at(n + 1)));
        CHECK(ours == Approx(theirs).epsilon(0.01));
    }
}

namespace {

using Values = std::vector<double>;

}  // namespace

// Computed by hand: the averages of {1, 2, 6} are 1, 1.5, 2, 3.5, 4, 6; none is at most 0, so p = 2 P(W <= 0) = 2/8.
TEST_CASE("the centre of three differences") {
    const HodgesLehmann centre = hodges_lehmann(Values{1, 2, 6}, 0.01);
    CHECK(centre.estimate == Approx(2.75));
    CHECK(centre.p_value == Approx(0.25));
    CHECK_FALSE(centre.interval);  // three pairs never reach 1%, nor 5%
    CHECK_FALSE(hodges_lehmann(Values{1, 2, 6}, 0.05).interval);
    CHECK(hodges_lehmann(Values{6, 1, 2}, 0.25).interval);
    // {-1, 2, 6}: -1, 0.5, 2, 2.5, 4, 6; one is at most 0: 2 P(W <= 1) = 2 * 2/8.
    CHECK(hodges_lehmann(Values{-1, 2, 6}, 0.01).estimate == Approx(2.25));
    CHECK(hodges_lehmann(Values{-1, 2, 6}, 0.01).p_value == Approx(0.5));
    CHECK(hodges_lehmann(Values{7}, 0.01).estimate == 7);
}

// At six pairs and 5% the critical value is 0: the interval spans the smallest and the largest average.
// At ten and 1% it is 3: for 1..10 the four smallest averages are 1, 1.5, 2, 2, the four largest 10, 9.5, 9, 9.
TEST_CASE("the interval ends at order statistics of the averages") {
    const HodgesLehmann six = hodges_lehmann(Values{3, 1, 9, 4, 2, 5}, 0.05);
    REQUIRE(six.interval);
    CHECK(six.interval->low == 1);
    CHECK(six.interval->high == 9);
    const HodgesLehmann ten = hodges_lehmann(Values{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.01);
    CHECK(ten.estimate == Approx(5.5));
    REQUIRE(ten.interval);
    CHECK(ten.interval->low == 2);
    CHECK(ten.interval->high == 9);
}

// SciPy 1.17: wilcoxon(x, method="exact") has the statistic 7 and p = 0.037109375.
TEST_CASE("p without ties is the exact signed-rank test's") {
    const Values x = {1.1, 2.3, -0.4, 3.3, 0.9, -1.7, 2.2, 4.1, 0.3, 1.9};
    CHECK(hodges_lehmann(x, 0.05).p_value == Approx(0.037109375));
}

// {-1, 1, 2}: the averages -1, 0, 0.5, 1, 1.5, 2 have two at most 0: 2 P(W <= 2) = 6/8. {0, 1, 2}: one: 4/8.
TEST_CASE("ties and zeros count against a difference") {
    CHECK(hodges_lehmann(Values{1, -1, 2}, 0.01).p_value == Approx(0.75));
    CHECK(hodges_lehmann(Values{0, 1, 2}, 0.01).p_value == Approx(0.5));
    const HodgesLehmann none = hodges_lehmann(Values(24, 0.0), 0.01);
    CHECK(none.p_value == 1);
    REQUIRE(none.interval);
    CHECK(none.interval->low == 0);
    CHECK(none.interval->high == 0);
}

TEST_CASE("p is at most alpha exactly where the interval leaves zero out") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> values(-3, 6);  // ties and zeros abound
    int out = 0;
    for (int trial = 0; trial < 500; ++trial) {
        Values x(8 + static_cast<std::size_t>(trial) % 20);
        for (double& value : x) value = values(random);
        const HodgesLehmann centre = hodges_lehmann(x, 0.05);
        REQUIRE(centre.interval);
        const bool zero_out = centre.interval->low > 0 || centre.interval->high < 0;
        REQUIRE((centre.p_value <= 0.05) == zero_out);
        out += zero_out;
    }
    CHECK(out > 50);
    CHECK(out < 450);
}

TEST_CASE("differences that have no centre are refused") {
    CHECK_THROWS_AS(hodges_lehmann(Values{}, 0.01), Error);
    CHECK_THROWS_AS(hodges_lehmann(Values{1, std::numeric_limits<double>::quiet_NaN()}, 0.01), Error);
    CHECK_THROWS_AS(hodges_lehmann(Values{1, std::numeric_limits<double>::infinity()}, 0.01), Error);
    CHECK_THROWS_AS(hodges_lehmann(Values(kMostPairs + 1, 1.0), 0.01), Error);
    const double huge = std::numeric_limits<double>::max();
    CHECK(hodges_lehmann(Values{huge, huge}, 0.01).estimate == huge);
}
