// The variance by which recipes are compared, and how often its bounds are wrong.

#include "reporting/analysis/statistics/variance_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "reporting/analysis/statistics/distributions.h"
#include "tests/catch.h"

using namespace deft::reporting;

namespace {

using Rows = std::vector<std::vector<double>>;

// Standard deviations over seeds of validation bits a byte, in evidence.
const std::vector<double> kShort = {0.007586, 0.006334, 0.001251, 0.003155, 0.002422, 0.001188, 0.002458, 0.002246},
                          kProxy = {0.014624, 0.011172, 0.010062, 0.013643, 0.003074, 0.004096, 0.008707, 0.005853};

// How often a bound at 95% puts one of two rows above the other, whose means are equal.
struct Wrong {
    double mean = 0, worst = 0;  // over the pairs of rows
};

template <class RuleOf>
Wrong wrong_bounds(const std::vector<double>& deviations, std::size_t seeds, std::mt19937_64& random,
                   const RuleOf& rule_of) {
    constexpr int kTables = 800;
    std::normal_distribution<double> normal;
    const std::size_t rows = deviations.size();
    std::vector<double> wrong(rows * rows);
    for (int table = 0; table < kTables; ++table) {
        Rows values(rows);
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t seed = 0; seed < seeds; ++seed) values[row].push_back(deviations[row] * normal(random));
        const ContrastRule rule = rule_of(values);
        for (std::size_t a = 0; a < rows; ++a)
            for (std::size_t b = 0; b < rows; ++b) {
                if (a == b) continue;
                const ContrastTerm terms[] = {unpaired_term(1, values[a]), unpaired_term(-1, values[b])};
                wrong[a * rows + b] += chance_above(contrast(terms, rule), 0) <= 0.05 ? 1.0 / kTables : 0;
            }
    }
    Wrong result;
    for (const double rate : wrong) {
        result.mean += rate / static_cast<double>(rows * (rows - 1));
        result.worst = std::max(result.worst, rate);
    }
    return result;
}

}  // namespace

// Around medians of 3 and 1.5 the distances are 3, 1, 1, 3 and 1.5, 0.5, 0.5, 1.5: between them 2 of 1 degree, within
// them 5 of 6, so that F is 2.4.
TEST_CASE("Brown-Forsythe's test by hand") {
    const auto test = brown_forsythe(Rows{{0, 2, 4, 6}, {0, 1, 2, 3}});
    REQUIRE(test);
    CHECK(test->statistic == Approx(2.4));
    CHECK(test->between == 1);
    CHECK(test->within == 6);
    CHECK(test->p_value == Approx(student_t_p_value(std::sqrt(2.4), 6)));
    CHECK(test->recipes == 2);
    // The median's distance from itself is left out: 1, 2 and 3, 5 leave two distances a recipe.
    const auto odd = brown_forsythe(Rows{{0, 1, 3}, {0, 3, 8}, {7}});
    REQUIRE(odd);
    CHECK(odd->recipes == 2);
    CHECK(odd->within == 2);
    CHECK(odd->statistic == Approx(5));
    CHECK_FALSE(brown_forsythe(Rows{{1, 2, 3}, {4}}));
    CHECK_FALSE(brown_forsythe(Rows{{1, 1, 1}, {2, 2, 2}}));
    CHECK_FALSE(brown_forsythe(Rows{{1, 2, 3}, {0, 5, 10}}));
}

TEST_CASE("each row's own variance is used where equal ones are rejected, and from five seeds on") {
    const Rows alike = {{0, 1, 3, 7}, {1, 2, 4, 9}, {0, 2, 3, 7}}, unlike = {{0, 1, 3, 7}, {0, 100, 250, 700}};
    CHECK(choose_variance(alike, 4).rule.method == ContrastMethod::pooled);
    CHECK(choose_variance(alike, 4).rule.pooled);
    CHECK(choose_variance(alike, 5).rule.method == ContrastMethod::welch);
    CHECK_FALSE(choose_variance(alike, 5).rule.pooled);
    CHECK(choose_variance(unlike, 3).rule.method == ContrastMethod::welch);
    CHECK(choose_variance(Rows{}, 3).rule.method == ContrastMethod::welch);
    CHECK_THAT(
        to_text(choose_variance(alike, 4)),
        ContainsSubstring("the variance pooled over rows (Brown-Forsythe p ") && ContainsSubstring(" over 3 rows)"));
    CHECK_THAT(to_text(choose_variance(unlike, 3)),
               ContainsSubstring("each row's own variance (Welch; Brown-Forsythe p "));
}

// Measured over 12,000 tables, as the mean over the ordered pairs of rows, and for the worst pair:
//            always pooled     as chosen
//   short, 3  4.9%, 12.9%      5.1%, 9.2%
//   short, 5  4.3%, 10.7%      4.9%, 5.4%
//   proxy, 3  4.8%, 10.1%      5.1%, 8.2%
//   proxy, 5  4.4%,  8.3%      4.8%, 5.3%
// Over all kept tables the worst pair is wrong in 10.0% at three seeds, 7.2% at four and 5.7% at five.
TEST_CASE("with the spreads of the kept tables, bounds at 95% are wrong as often as docs/statistics.md says") {
    const unsigned seed = std::random_device{}();
    std::mt19937_64 random{seed};
    for (const auto& [name, deviations] : {std::pair("short", &kShort), std::pair("proxy", &kProxy)})
        for (const std::size_t seeds : {std::size_t{3}, std::size_t{5}}) {
            const Wrong pooled = wrong_bounds(*deviations, seeds, random, [](const Rows& rows) {
                return ContrastRule{ContrastMethod::pooled, pooled_variance(rows), 0};
            });
            const Wrong chosen = wrong_bounds(*deviations, seeds, random,
                                              [&](const Rows& rows) { return choose_variance(rows, seeds).rule; });
            std::printf("seed %u, %s table, %zu seeds: pooled wrong %.4f (worst %.4f), as chosen %.4f (worst %.4f)\n",
                        seed, name, seeds, pooled.mean, pooled.worst, chosen.mean, chosen.worst);
            CHECK(chosen.mean < 0.06);
            CHECK(chosen.worst < (seeds == 3 ? 0.135 : 0.085));
            if (seeds == 5) CHECK(chosen.worst < pooled.worst);
        }
}
