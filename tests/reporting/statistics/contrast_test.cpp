#include "reporting/analysis/statistics/contrast.h"

#include <cmath>
#include <cstdio>
#include <random>

#include "base/error.h"
#include "reporting/analysis/statistics/case_family.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

std::vector<SeedScore> scores(const std::vector<double>& values, std::int64_t first_seed = 1) {
    std::vector<SeedScore> result;
    for (const double value : values) result.push_back({first_seed++, value});
    return result;
}

std::vector<ContrastTerm> difference(const std::vector<double>& base, const std::vector<double>& head) {
    return {{1, scores(head)}, {-1, scores(base)}};
}

ContrastRule pooled_rule(const std::vector<std::vector<double>>& recipes) {
    return {ContrastMethod::pooled, pooled_variance(recipes)};
}

// Seeds of every recipe of a table, about means of 0 but for what is added to the first.
struct World {
    std::mt19937_64 random;
    std::normal_distribution<double> normal{0, 1};

    std::vector<double> recipe(std::size_t seeds, double mean, double deviation) {
        std::vector<double> values;
        for (std::size_t s = 0; s < seeds; ++s) values.push_back(mean + deviation * normal(random));
        return values;
    }
};

}  // namespace

// Computed by hand: variances 1 and 4, pooled 2.5 with 4 degrees; drawn towards it 2.125 and 2.875; the squared
// standard error is their sum over 3, 5/3. Of the 10 degrees that the prior would give, 4 are there. t = 2 / sqrt(5/3)
// = 1.549193, and P(T > t) = 1/2 - 3/8 sqrt(1.5) (1 - 1.5/12) = 0.098131. t(95%, 4) = 2.131847.
TEST_CASE("variances are drawn towards the table's, whose degrees of freedom are the most that there are") {
    const std::vector<double> base = {1, 2, 3}, head = {2, 4, 6};
    const Contrast found = contrast(difference(base, head), pooled_rule({base, head}));
    CHECK(found.estimate == Approx(2));
    CHECK(found.standard_error == Approx(std::sqrt(5.0 / 3)));
    CHECK(found.degrees == Approx(4));
    CHECK(found.seeds == 3);
    CHECK(chance_above(found, 0) == Approx(0.098131).epsilon(1e-5));
    CHECK(chance_below(found, 0) == Approx(1 - 0.098131).epsilon(1e-5));
    CHECK(chance_above(found, 4) == Approx(1 - 0.098131).epsilon(1e-5));
    const Interval interval = interval_of(found, 0.9);
    CHECK(interval.low == Approx(2 - 2.131847 * std::sqrt(5.0 / 3)).epsilon(1e-5));
    CHECK(interval.high == Approx(2 + 2.131847 * std::sqrt(5.0 / 3)).epsilon(1e-5));
    // A table of many recipes lends its freedom, up to what the prior is worth.
    const std::vector<double> third = {0, 1.5, 3}, fourth = {9, 9.1, 8};
    CHECK(contrast(difference(base, head), pooled_rule({base, head, third, fourth, base, head})).degrees == Approx(10));
    CHECK(contrast(difference(base, head), pooled_rule({base, head, third, fourth})).degrees == Approx(8));
}

// The differences 1, 2, 3 have the mean 2 and the standard error 1/sqrt(3); t = 3.464102 with 2 degrees: the tail is
// 1/2 - t / (2 sqrt(2 + t^2)) = 0.037090.
TEST_CASE("recipes are compared seed by seed where a claim says so") {
    const ContrastRule rule{ContrastMethod::paired};
    const Contrast found = contrast(difference({1, 2, 3}, {2, 4, 6}), rule);
    CHECK(found.estimate == Approx(2));
    CHECK(found.standard_error == Approx(1 / std::sqrt(3.0)));
    CHECK(found.degrees == 2);
    CHECK(chance_above(found, 0) == Approx(0.5 - std::sqrt(12.0) / (2 * std::sqrt(14.0))).epsilon(1e-9));
    CHECK_THROWS_WITH(contrast(difference({1, 2, 3}, {2, 4}), rule), ContainsSubstring("other seeds"));
    const std::vector<ContrastTerm> others = {{1, scores({1, 2, 3}, 1)}, {-1, scores({1, 2, 3}, 2)}};
    CHECK_THROWS_WITH(contrast(others, rule), ContainsSubstring("seed 4 is not there on all sides"));
}

// The share 0.5 of the gap from 10 to 14 that 12.5 closes: 12.5 - 10 - 0.5 (14 - 10) = 0.5, from variances 1 each with
// coefficients 1, -1 + 0.5 and -0.5: (1 + 0.25 + 0.25) / 3.
TEST_CASE("a contrast of three recipes weighs the variance of each by its coefficient") {
    const std::vector<double> half = {9, 10, 11}, full = {13, 14, 15}, technique = {11.5, 12.5, 13.5};
    const std::vector<ContrastTerm> terms = {{1, scores(technique)}, {-0.5, scores(half)}, {-0.5, scores(full)}};
    const Contrast found = contrast(terms, pooled_rule({half, full, technique}));
    CHECK(found.estimate == Approx(0.5));
    CHECK(found.standard_error == Approx(std::sqrt(1.5 / 3)));
    CHECK(found.degrees == Approx(6));
}

TEST_CASE("a test set's own size is the least standard error, and a recipe's own variance has few degrees of freedom") {
    ContrastRule rule{ContrastMethod::welch};
    rule.item_error = 3;
    const Contrast found = contrast(difference({1, 2, 3}, {2, 4, 6}), rule);
    CHECK(found.standard_error == 3);
    rule.item_error = 0;
    CHECK(contrast(difference({1, 2, 3}, {2, 4, 6}), rule).standard_error == Approx(std::sqrt(5.0 / 3)));
    // (5/3)^2 / ((1/3)^2 / 2 + (4/3)^2 / 2)
    CHECK(contrast(difference({1, 2, 3}, {2, 4, 6}), rule).degrees == Approx(50.0 / 17));
    CHECK(more_seeds(difference({1, 2, 3}, {2, 4, 6}), {ContrastMethod::welch, std::nullopt, 3}, 0, 0.05) ==
          std::nullopt);
}

TEST_CASE("without a spread a contrast is what it is, and rounding is none") {
    const Contrast same =
        contrast(difference({0.3, 0.3, 0.3}, {0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2}), {ContrastMethod::paired});
    CHECK(same.standard_error == 0);
    const Contrast above = contrast(difference({1, 1, 1}, {2, 2, 2}), {ContrastMethod::welch});
    CHECK(above.standard_error == 0);
    CHECK(chance_above(above, 0.5) == 0);
    CHECK(chance_above(above, 1) == 1);
    CHECK(chance_below(above, 0.5) == 1);
    CHECK(interval_of(above, 0.9).low == 1);
    CHECK(smallest_effect(above, 0.05) == 0);
    CHECK(more_seeds(difference({1, 1, 1}, {2, 2, 2}), {ContrastMethod::welch}, 0, 0.05) == 0);
}

TEST_CASE("what makes no comparison is refused") {
    CHECK_THROWS_WITH(contrast({}, {ContrastMethod::welch}), ContainsSubstring("no recipe"));
    CHECK_THROWS_WITH(contrast(difference({1}, {2}), {ContrastMethod::welch}),
                      ContainsSubstring("one seed has no spread"));
    CHECK_THROWS_WITH(contrast(difference({}, {2}), {ContrastMethod::welch}), ContainsSubstring("no seed"));
    CHECK_THROWS_WITH(contrast(difference({1, NAN}, {2, 3}), {ContrastMethod::welch}),
                      ContainsSubstring("seed 2 has the value nan"));
    std::vector<ContrastTerm> twice = difference({1, 2}, {3, 4});
    twice[0].values[1].seed = 1;
    CHECK_THROWS_WITH(contrast(difference({1, 2}, {2, 3}), {}), ContainsSubstring("the table's variance without one"));
    CHECK_THROWS_WITH(contrast(twice, {ContrastMethod::welch}), ContainsSubstring("seed 1 is listed twice"));
}

TEST_CASE("more seeds of the same means and spreads are as many as were said, to one") {
    int checked = 0;
    for (int trial = 0; trial < 200; ++trial) {
        // Values of which any number has nearly the same mean and variance: halves above and below.
        const double apart = 0.6 + 0.1 * (trial % 8);
        const auto recipe = [&](std::size_t seeds, double mean) {
            std::vector<double> values;
            const double deviation = std::sqrt((static_cast<double>(seeds) - 1) / static_cast<double>(seeds));
            for (std::size_t s = 0; s < seeds; ++s) values.push_back(mean + (s % 2 == 0 ? deviation : -deviation));
            return values;
        };
        const std::vector<double> base = recipe(4, 0), head = recipe(4, apart);
        const ContrastRule rule = pooled_rule({base, head});
        const std::optional<std::size_t> more = more_seeds(difference(base, head), rule, 0, 0.05);
        REQUIRE(more);
        if (*more == 0) continue;
        ++checked;
        const auto settled = [&](std::size_t seeds) {
            const std::vector<double> a = recipe(seeds, 0), b = recipe(seeds, apart);
            return chance_above(contrast(difference(a, b), pooled_rule({a, b})), 0) <= 0.05;
        };
        const std::size_t even = (4 + *more + 2) / 2 * 2;  // an even number of seeds has that mean exactly
        CHECK(settled(even));
        if (*more > 4) CHECK_FALSE(settled(even - 4));
    }
    CHECK(checked > 50);
}

TEST_CASE("p-values are adjusted so that the family is wrong at most as often as was said") {
    const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
    const std::vector<double> adjusted = holm(p);
    CHECK(adjusted[3] == Approx(0.02));
    CHECK(adjusted[0] == Approx(0.03));
    CHECK(adjusted[2] == Approx(0.06));
    CHECK(adjusted[1] == Approx(0.06));  // not below that of a smaller p
    CHECK(holm(std::vector<double>{0.9, 0.8}) == std::vector<double>{1, 1});
    CHECK(holm(std::vector<double>{}).empty());
    CHECK_THROWS_WITH(holm(std::vector<double>{1.5}), ContainsSubstring("not a p-value"));
}

// 8 recipes of 3 seeds, measured over 20,000 tables: false at the threshold 4.9% where spreads are equal, 5.3% where
// each recipe's differs by up to a factor of two; the power at smallest_effect() is 80%.
TEST_CASE("tables of known truth: false calls, power and intervals at their levels") {
    const unsigned seed = std::random_device{}();
    World world{std::mt19937_64{seed}};
    constexpr int kTables = 4000;
    constexpr double kLevel = 0.05;
    for (const bool equal_spreads : {true, false}) {
        int false_calls = 0, covered = 0, seen = 0;
        for (int table = 0; table < kTables; ++table) {
            std::vector<std::vector<double>> recipes;
            for (int r = 0; r < 8; ++r)
                recipes.push_back(world.recipe(3, 0, equal_spreads ? 1 : std::exp2(world.normal(world.random) / 2)));
            const ContrastRule rule = pooled_rule(recipes);
            const std::vector<ContrastTerm> terms = difference(recipes[0], recipes[1]);
            const Contrast found = contrast(terms, rule);
            false_calls += chance_above(found, 0) <= kLevel;
            const Interval interval = interval_of(found, 0.9);
            covered += interval.low <= 0 && 0 <= interval.high;
            // The truth is shifted by what the true spread would need; the table's own estimate of it follows.
            Contrast truth = found;
            truth.standard_error = std::sqrt(2.0 / 3);
            Contrast shifted = found;
            shifted.estimate += smallest_effect(truth, kLevel);
            seen += chance_above(shifted, 0) <= kLevel;
        }
        std::printf("seed %u, %s spreads: false %.4f, covered %.4f, power %.4f\n", seed,
                    equal_spreads ? "equal" : "unequal", 1.0 * false_calls / kTables, 1.0 * covered / kTables,
                    1.0 * seen / kTables);
        // Three standard errors of a rate of 5% over 4,000 tables are 1%, of 80% 2%.
        CHECK(1.0 * false_calls / kTables < kLevel + (equal_spreads ? 0.011 : 0.03));
        CHECK(1.0 * covered / kTables > 0.9 - (equal_spreads ? 0.015 : 0.05));
        if (!equal_spreads) continue;
        CHECK(1.0 * false_calls / kTables > kLevel - 0.015);
        CHECK(1.0 * seen / kTables == Approx(0.8).margin(0.03));
    }
}

TEST_CASE("the power that is stated is the power that there is, at any number of seeds") {
    World world{std::mt19937_64{std::random_device{}()}};
    for (const std::size_t seeds : {std::size_t{3}, std::size_t{5}, std::size_t{9}}) {
        Contrast of_truth;
        of_truth.standard_error = std::sqrt(2.0 / static_cast<double>(seeds));
        of_truth.degrees = 2 * static_cast<double>(seeds) - 2;
        const double effect = smallest_effect(of_truth, 0.05);
        int seen = 0;
        constexpr int kTables = 4000;
        for (int table = 0; table < kTables; ++table) {
            const std::vector<double> base = world.recipe(seeds, 0, 1), head = world.recipe(seeds, effect, 1);
            seen += chance_above(contrast(difference(base, head), pooled_rule({base, head})), 0) <= 0.05;
        }
        CHECK(1.0 * seen / kTables == Approx(0.8).margin(0.025));
    }
}
