#include "reporting/analysis/statistics/seed_comparison.h"

#include <cmath>
#include <cstdio>
#include <random>

#include "base/error.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

using Scores = std::vector<SeedScore>;

Scores scores(std::int64_t first_seed, std::vector<double> values) {
    Scores result;
    for (double value : values) result.push_back({first_seed++, value});
    return result;
}

SeedRule rule_of(double margin, Improves improves = Improves::upwards) {
    SeedRule rule;
    rule.margin = margin;
    rule.improves = improves;
    return rule;
}

}  // namespace

// Computed by hand: the differences 0.01, 0 and 0.02 have the mean 0.01 and the standard deviation 0.01; t = 2.919986
// at 90% and 2 degrees: half = 2.919986 * 0.01 / sqrt(3) = 0.0168585. With k seeds it is t(k-1) * 0.01 / sqrt(k):
// 0.01177 for 4, 0.00518 for 12, 0.00494 for 13.
TEST_CASE("recipes with the same seeds are compared seed by seed") {
    const Scores base = scores(1, {0.50, 0.52, 0.54}), head = {{3, 0.56}, {1, 0.51}, {2, 0.52}};
    const SeedComparison good = compare_seeds(base, head, rule_of(0.01));
    CHECK(good.method == ContrastMethod::paired);
    CHECK(good.difference == Approx(0.01));
    REQUIRE(good.interval);
    CHECK(good.interval->low == Approx(0.01 - 0.0168585).epsilon(1e-5));
    CHECK(good.interval->high == Approx(0.01 + 0.0168585).epsilon(1e-5));
    CHECK(good.verdict == SeedVerdict::not_worse);  // at most 0.0069 worse
    CHECK(good.more_seeds == 0);

    const SeedComparison close = compare_seeds(base, head, rule_of(0.005));
    CHECK(close.verdict == SeedVerdict::unclear);
    CHECK(close.more_seeds == 1);  // half < 0.015

    const SeedComparison loss = compare_seeds(base, head, rule_of(0.005, Improves::downwards));
    CHECK(loss.verdict == SeedVerdict::unclear);
    CHECK(loss.more_seeds == 10);  // half < 0.005

    CHECK(compare_seeds(scores(1, {0.5, 0.52, 0.54}), scores(1, {0.41, 0.42, 0.46}), rule_of(0.01)).verdict ==
          SeedVerdict::worse);
}

// The numbers of Welch's test by hand: difference 3, standard error sqrt(2), 216/53 degrees; t = 2.120554 at 90%.
TEST_CASE("recipes with other seeds are compared by Welch's interval") {
    const SeedComparison other = compare_seeds(scores(1, {1, 2, 3}), scores(4, {2, 4, 6, 8}), rule_of(0.5));
    CHECK(other.method == ContrastMethod::welch);
    CHECK(other.difference == Approx(3));
    REQUIRE(other.interval);
    CHECK(other.interval->high - 3 == Approx(2.120554 * std::sqrt(2.0)).epsilon(1e-5));
    CHECK(other.verdict == SeedVerdict::not_worse);
}

// Computed by hand: (2 * 1 + 3 * 20/3) / 5 = 4.4 with 5 degrees. Drawn together: (6 * 4.4 + 2 * 1) / 8 = 3.55 and
// (26.4 + 20) / 9 = 5.155556; squared error 3.55/3 + 5.155556/4 = 2.472222; t = 2.015048 at min(6 + 5, 5) degrees.
TEST_CASE("a table's pooled variance steadies that of few seeds") {
    const std::vector<std::vector<double>> recipes = {{1, 2, 3}, {2, 4, 6, 8}, {9}};
    SeedRule rule = rule_of(0.5);
    rule.pooled = pooled_variance(recipes);
    REQUIRE(rule.pooled);
    CHECK(rule.pooled->variance == Approx(4.4));
    CHECK(rule.pooled->degrees == 5);
    const SeedComparison pooled = compare_seeds(scores(1, {1, 2, 3}), scores(4, {2, 4, 6, 8}), rule);
    CHECK(pooled.method == ContrastMethod::pooled);
    REQUIRE(pooled.interval);
    CHECK(pooled.interval->high - 3 == Approx(2.015048 * std::sqrt(2.472222)).epsilon(1e-5));
    CHECK_FALSE(pooled_variance(std::vector<std::vector<double>>{{1}, {}}));
}

TEST_CASE("fewer than three seeds have no verdict") {
    const SeedComparison two = compare_seeds(scores(1, {1, 2}), scores(1, {5, 6}), rule_of(0.5));
    CHECK_FALSE(two.verdict);
    CHECK_FALSE(two.interval);
    CHECK(two.difference == Approx(4));
    CHECK(two.more_seeds == 1);
    CHECK(compare_seeds(scores(1, {1}), scores(1, {5, 6, 7}), rule_of(0.5)).more_seeds == 2);
}

TEST_CASE("seeds without any spread prove nothing, unless both sides are the same bits") {
    const Scores base = scores(1, {0.7, 0.8, 0.9});
    const SeedComparison same = compare_seeds(base, base, rule_of(0.01));
    CHECK(same.verdict == SeedVerdict::not_worse);
    CHECK_FALSE(same.interval);
    CHECK(same.more_seeds == 0);
    const SeedComparison shifted = compare_seeds(base, scores(1, {0.6, 0.7, 0.8}), rule_of(0.01));
    CHECK(shifted.verdict == SeedVerdict::unclear);
    CHECK_FALSE(shifted.more_seeds);
    CHECK(compare_seeds(scores(1, {0.7, 0.7, 0.7}), scores(4, {0.7, 0.7, 0.7}), rule_of(0.01)).verdict ==
          SeedVerdict::unclear);
}

// t = 2.919986 times 0.02 is more than any margin here allows, and seeds do not lower it.
TEST_CASE("no number of seeds makes up for a small test set") {
    SeedRule rule = rule_of(0.005);
    rule.item_error = 0.02;
    const SeedComparison noisy = compare_seeds(scores(1, {0.50, 0.52, 0.54}), scores(1, {0.51, 0.52, 0.56}), rule);
    CHECK(noisy.verdict == SeedVerdict::unclear);
    REQUIRE(noisy.interval);
    CHECK(noisy.interval->high == Approx(0.01 + 2.919986 * 0.02).epsilon(1e-5));
    CHECK_FALSE(noisy.more_seeds);
}

TEST_CASE("comparisons of seeds that make no sense are refused") {
    const Scores three = scores(1, {1, 2, 3});
    CHECK_THROWS_AS(compare_seeds({}, three, rule_of(0.1)), Error);
    CHECK_THROWS_AS(compare_seeds(three, scores(1, {1, NAN, 3}), rule_of(0.1)), Error);
    CHECK_THROWS_AS(compare_seeds(three, Scores{{1, 1}, {1, 2}, {2, 3}}, rule_of(0.1)), Error);
    CHECK_THROWS_AS(compare_seeds(three, three, rule_of(0)), Error);
    SeedRule rule = rule_of(0.1);
    rule.confidence = 1;
    CHECK_THROWS_AS(compare_seeds(three, three, rule), Error);
}

// A recipe exactly a margin worse must pass no more than 5% of the time, with any of the three methods.
TEST_CASE("a recipe at the margin passes as rarely as it should") {
    const unsigned seed = std::random_device{}();
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    const int trials = 3000;
    const auto draw = [&](std::size_t count, double centre) {
        std::vector<double> values;
        while (values.size() < count) values.push_back(centre + normal(random));
        return values;
    };
    int at_margin[3] = {}, as_good[3] = {};
    for (int i = 0; i < trials; ++i) {
        std::vector<std::vector<double>> table;
        while (table.size() < 8) table.push_back(draw(3, 0));
        for (double harm : {2.0, 0.0}) {
            SeedRule rule = rule_of(2);
            const auto passes = [&](std::int64_t first_seed) {
                return compare_seeds(scores(1, table[0]), scores(first_seed, table[1]), rule).verdict ==
                       SeedVerdict::not_worse;
            };
            for (double& value : table[1]) value -= harm;
            int* count = harm == 0 ? as_good : at_margin;
            count[0] += passes(1);
            count[1] += passes(11);
            rule.pooled = pooled_variance(table);
            count[2] += passes(1);
            for (double& value : table[1]) value += harm;
        }
    }
    std::printf("seed %u: three seeds, a margin of two deviations, %d trials\n", seed, trials);
    const char* methods[] = {"paired", "welch", "pooled"};
    for (int i = 0; i < 3; ++i) {
        std::printf("  %s: passed at the margin %.4f, when as good %.4f\n", methods[i],
                    at_margin[i] / static_cast<double>(trials), as_good[i] / static_cast<double>(trials));
        CHECK(at_margin[i] < 0.075 * trials);
        CHECK(as_good[i] > 0.4 * trials);
    }
    CHECK(as_good[2] > as_good[0]);
}
