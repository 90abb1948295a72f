#include "reporting/statistics/signed_rank.h"

#include <cmath>

#include "tests/catch.h"

using namespace deft::reporting;

// By hand: the eight subsets of {1, 2, 3} have the sums 0, 1, 2, 3, 3, 4, 5, 6.
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
