#include "reporting/analysis/statistics/case_family.h"

#include "base/error.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

// Computed by hand: the logarithms are a = ln 1.1 = 0.0953102, -a and 0; their mean is 0, their standard deviation a,
// and t = 4.302653 at 95% and 2 degrees: the half width is 4.302653 * a / sqrt(3) = 0.236764.
TEST_CASE("the geometric mean over cases") {
    const FamilySummary family = family_summary(std::vector<double>{1.1, 1 / 1.1, 1});
    CHECK(family.cases == 3);
    CHECK(family.ratio == Approx(1));
    REQUIRE(family.interval);
    CHECK(family.interval->high == Approx(1.267142).epsilon(1e-5));
    CHECK(family.interval->low == Approx(1 / 1.267142).epsilon(1e-5));
    CHECK(family_summary(std::vector<double>{2, 8}).ratio == Approx(4));
    CHECK_FALSE(family_summary(std::vector<double>{2, 8}).interval);
    CHECK(family_summary(std::vector<double>{}).cases == 0);
    CHECK_THROWS_AS(family_summary(std::vector<double>{1, 0}), Error);
}

// One case at p = 0.009 among ten has the adjusted p 0.09 where the others say nothing.
TEST_CASE("a verdict is corrected for the number of cases") {
    const auto decision = [](Verdict verdict, double p) {
        PairedEvidence evidence;
        evidence.p_value = p;
        return PairedDecision{verdict, 0, evidence};
    };
    std::vector<PairedDecision> decisions(8, decision(Verdict::same, 0.9));
    decisions.push_back(PairedDecision{});  // not measured yet
    decisions.push_back(decision(Verdict::worse, 0.009));
    auto outcomes = over_cases(decisions);
    REQUIRE(outcomes.size() == 10);
    CHECK(outcomes.back().adjusted_p == Approx(0.09));
    CHECK(outcomes.back().verdict == Verdict::unclear);
    CHECK(outcomes.front().verdict == Verdict::same);
    decisions.back() = decision(Verdict::worse, 0.004);
    CHECK(over_cases(decisions).back().verdict == Verdict::worse);
    // A second case of the same strength lends the first its rank: 0.009 * 10 / 2.
    decisions.back() = decision(Verdict::worse, 0.009);
    decisions.front() = decision(Verdict::better, 0.009);
    outcomes = over_cases(decisions);
    CHECK(outcomes.back().adjusted_p == Approx(0.045));
    CHECK(outcomes.back().verdict == Verdict::worse);
    CHECK(outcomes.front().verdict == Verdict::better);
}

// Computed by hand: sorted 0.005 * 4/1, 0.01 * 4/2, 0.03 * 4/3, 0.04 * 4/4, then the smallest from the right.
TEST_CASE("adjusted p-values of four tests") {
    const auto adjusted = benjamini_hochberg(std::vector<double>{0.01, 0.04, 0.03, 0.005});
    REQUIRE(adjusted.size() == 4);
    CHECK(adjusted[0] == Approx(0.02));
    CHECK(adjusted[1] == Approx(0.04));
    CHECK(adjusted[2] == Approx(0.04));
    CHECK(adjusted[3] == Approx(0.02));
}

TEST_CASE("one test keeps its p, many ones keep one, equal ones stay equal") {
    CHECK(benjamini_hochberg(std::vector<double>{}).empty());
    CHECK(benjamini_hochberg(std::vector<double>{0.03}).at(0) == Approx(0.03));
    for (double p : benjamini_hochberg(std::vector<double>(5, 1.0))) CHECK(p == 1);
    for (double p : benjamini_hochberg(std::vector<double>(5, 0.2))) CHECK(p == Approx(0.2));
}

TEST_CASE("a number that is not a p-value is refused") {
    CHECK_THROWS_AS(benjamini_hochberg(std::vector<double>{0.1, 1.1}), Error);
    CHECK_THROWS_AS(benjamini_hochberg(std::vector<double>{-0.1}), Error);
}
