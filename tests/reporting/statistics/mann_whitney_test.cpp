#include "reporting/statistics/mann_whitney.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

using Values = std::vector<double>;

}  // namespace

// By hand: of the six ways to deal out 1, 2, 3, 4 in twos, one has the rank sum 3 and one 7.
TEST_CASE("the rank test of two and two") {
    const MannWhitney apart = mann_whitney(Values{1, 2}, Values{3, 4});
    CHECK(apart.u == 0);
    CHECK(apart.p_value == Approx(2.0 / 6));
    CHECK(apart.exact);
    CHECK(mann_whitney(Values{3, 4}, Values{1, 2}).u == 4);
    CHECK(mann_whitney(Values{1, 3}, Values{2, 4}).p_value == Approx(4.0 / 6));
    CHECK(mann_whitney(Values{1, 1}, Values{1, 1}).p_value == 1);
    CHECK(mann_whitney(Values{1}, Values{1, 2}).u == 0.5);
}

// SciPy 1.17: mannwhitneyu(method="exact"), for ties with PermutationMethod, which goes through all 252 ways.
TEST_CASE("exact p-values as SciPy has them") {
    const MannWhitney plain = mann_whitney(Values{1, 4, 5, 8, 9}, Values{2, 3, 6, 10, 11, 12});
    CHECK(plain.u == 10);
    CHECK(plain.p_value == Approx(0.42857142857142855));
    CHECK(mann_whitney(Values{1, 4, 5, 8, 9}, Values{20, 13, 16, 10, 11}).p_value == Approx(0.007936507936507936));
    const MannWhitney tied = mann_whitney(Values{1, 2, 2, 3, 5}, Values{2, 4, 5, 6, 7});
    CHECK(tied.u == 4.5);
    CHECK(tied.p_value == Approx(0.1111111111111111));
}

// SciPy 1.17: 30 + 30 values with method="exact"; 31 + 30, and 31 + 31 with ties, with method="asymptotic".
TEST_CASE("the normal distribution takes over beyond sixty values") {
    Values x, y;
    for (int i = 0; i < 30; ++i) {
        x.push_back(7 * i % 30);
        y.push_back(11 * i % 30 * 1.1 + 2.05);
    }
    CHECK(mann_whitney(x, y).exact);
    CHECK(mann_whitney(x, y).u == 355);
    CHECK(mann_whitney(x, y).p_value == Approx(0.1635080403233159));

    Values a, b, c;
    for (int i = 0; i < 31; ++i) {
        a.push_back(i);
        if (i < 30) b.push_back(i + 5.5);
        c.push_back(i % 20 + 7);
    }
    CHECK_FALSE(mann_whitney(a, b).exact);
    CHECK(mann_whitney(a, b).p_value == Approx(0.0441713449084426));
    CHECK(mann_whitney(a, c).u == 483.5);
    CHECK(mann_whitney(a, c).p_value == Approx(0.9719043584625571));
    CHECK(mann_whitney(Values(40, 1.0), Values(40, 1.0)).p_value == 1);
}

TEST_CASE("smallest p-values that sample sizes can reach") {
    CHECK(smallest_reachable_p(1, 1) == 1);
    CHECK(smallest_reachable_p(2, 2) == Approx(2.0 / 6));
    CHECK(smallest_reachable_p(3, 3) == Approx(0.1));
    CHECK(smallest_reachable_p(5, 5) == Approx(2.0 / 252));
    CHECK(smallest_reachable_p(2, 5) == Approx(2.0 / 21));
    CHECK(smallest_reachable_p(5, 2) == Approx(2.0 / 21));
    CHECK(smallest_reachable_p(600, 600) < 1e-300);
}

TEST_CASE("rank tests of nothing are refused") {
    CHECK_THROWS_AS(mann_whitney(Values{}, Values{1}), Error);
    CHECK_THROWS_AS(mann_whitney(Values{1}, Values{NAN}), Error);
}
