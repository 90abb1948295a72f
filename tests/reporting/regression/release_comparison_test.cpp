#include "reporting/regression/release_comparison.h"

#include <vector>

#include "base/error.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

using Values = std::vector<double>;

Values times(const Values& base, double ratio) {
    Values head;
    for (double time : base) head.push_back(time * ratio);
    return head;
}

const Values kFive = {100, 100.2, 100.4, 100.6, 100.8};

}  // namespace

// Five launches apart from five: p = 2/252 = 0.0079. Four from four: 2/70 = 0.0286, never below 1%.
TEST_CASE("releases are compared where their launches can tell") {
    const ReleaseComparison worse = compare_releases(kFive, times(kFive, 1.05));
    CHECK(worse.verdict == Verdict::worse);
    REQUIRE(worse.p_value);
    CHECK(*worse.p_value == Approx(2.0 / 252));
    CHECK(worse.ratio == Approx(1.05));
    CHECK(compare_releases(times(kFive, 1.05), kFive).verdict == Verdict::better);
    CHECK(compare_releases(times(kFive, 1.05), kFive).ratio == Approx(1 / 1.05));
    CHECK(compare_releases(kFive, kFive).verdict == Verdict::unclear);
    CHECK(compare_releases(kFive, times(kFive, 1.02)).verdict == Verdict::unclear);  // sure, and small
    CHECK(*compare_releases(kFive, times(kFive, 1.02)).p_value < 0.01);
}

TEST_CASE("too few launches are told, not tested") {
    const Values four(kFive.begin(), kFive.begin() + 4);
    const ReleaseComparison refused = compare_releases(four, times(four, 2));
    CHECK_FALSE(refused.p_value);
    CHECK(refused.smallest_p == Approx(2.0 / 70));
    CHECK(refused.verdict == Verdict::unclear);
    CHECK(refused.ratio > 1.98);
    CHECK_THROWS_AS(compare_releases(Values{}, kFive), Error);
    CHECK_THROWS_AS(compare_releases(kFive, Values{0, 1}), Error);
}
