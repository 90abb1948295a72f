#include "reporting/statistics/case_family.h"

#include "base/error.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

// By hand: sorted 0.005 * 4/1, 0.01 * 4/2, 0.03 * 4/3, 0.04 * 4/4, then the smallest from the right.
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

TEST_CASE("what is no p-value is refused") {
    CHECK_THROWS_AS(benjamini_hochberg(std::vector<double>{0.1, 1.1}), Error);
    CHECK_THROWS_AS(benjamini_hochberg(std::vector<double>{-0.1}), Error);
}
