#include "reporting/analysis/statistics/best_rows.h"

#include <cmath>
#include <random>

#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

using Rows = std::vector<std::vector<double>>;

std::vector<double> around(double mean) {
    return {mean - 1, mean, mean + 1};
}

}  // namespace

// Computed by hand: every row has a variance of 1, so the pooled one is 1 with 6 degrees; a difference of two means has
// the standard error sqrt(2 / 3) = 0.8165. Two others share 5%: t(1 - 0.025, 6) = 2.4469, so that rows within 1.998 of
// the best stay.
TEST_CASE("rows that the best mean is not surely better than may be the best") {
    CHECK(best_rows(Rows{around(10), around(8.01), around(7.99)}, Improves::upwards) ==
          std::vector<bool>{true, true, false});
    CHECK(best_rows(Rows{around(-10), around(-7.99), around(-8.01)}, Improves::downwards) ==
          std::vector<bool>{true, false, true});
    // One other has all of 5%: t(1 - 0.05, 4) = 2.1318, times 0.8165 are 1.741.
    CHECK(best_rows(Rows{around(8.25), around(10)}, Improves::upwards) == std::vector<bool>{false, true});
    CHECK(best_rows(Rows{around(8.27), around(10)}, Improves::upwards) == std::vector<bool>{true, true});
}

TEST_CASE("rows of fewer than three seeds or without a number are no part of it") {
    const Rows rows = {{1, 1.1, 1.2}, {1, 1}, {}, {9, 9, NAN}, {1, 1.1, 1.25}};
    CHECK(best_rows(rows, Improves::upwards) == std::vector<bool>{true, false, false, false, true});
    CHECK(best_rows(Rows{{1, 2, 3}, {1, 2}}, Improves::upwards) == std::vector<bool>{false, false});
    CHECK(best_rows(Rows{}, Improves::upwards).empty());
}

TEST_CASE("without any spread only equals of the best may be it") {
    CHECK(best_rows(Rows{{2, 2, 2}, {2, 2, 2}, {1, 1, 1}}, Improves::upwards) == std::vector<bool>{true, true, false});
}

TEST_CASE("equal values have no best") {
    const std::vector<std::vector<double>> none(3, std::vector<double>(3, 0.0));
    CHECK(best_rows(none, Improves::upwards) == std::vector<bool>{false, false, false});
    std::vector<std::vector<double>> some = none;
    some[1][2] = 0.01;
    CHECK(best_rows(some, Improves::upwards)[1]);
    // A row that does not count is none of them.
    CHECK(best_rows(std::vector<std::vector<double>>{{0, 0, 0}, {0, 0, 0}, {1, 1}}, Improves::downwards) ==
          std::vector<bool>{false, false, false});
}

TEST_CASE("the truly best row is marked in 95% of tables or more, and rows far from it seldom are") {
    const auto world = std::random_device{}();
    std::mt19937_64 random(world);
    std::normal_distribution<double> normal;
    constexpr int kTables = 4000, kRows = 8;
    int best_marked = 0, far_marked = 0;
    for (int table = 0; table < kTables; ++table) {
        Rows rows(kRows);
        for (int row = 0; row < kRows; ++row)
            for (int seed = 0; seed < 3; ++seed)
                rows[static_cast<std::size_t>(row)].push_back((row == 0           ? 0.1
                                                               : row == kRows - 1 ? -6
                                                                                  : 0) +
                                                              normal(random));
        const std::vector<bool> marked = best_rows(rows, Improves::upwards);
        best_marked += marked.front();
        far_marked += marked.back();
    }
    CAPTURE(world, best_marked, far_marked);
    CHECK(best_marked > 0.95 * kTables);
    // Where equal variances are rejected, in 2.4% of these tables, three seeds of a row distinguish almost nothing.
    CHECK(far_marked < 0.04 * kTables);
}

TEST_CASE("Where a row of too few seeds is better than the best, none is marked, for it may be the one") {
    CHECK(best_rows(Rows{around(8), around(10), {11, 11.5}}, Improves::upwards) ==
          std::vector<bool>{false, false, false});
    CHECK(best_rows(Rows{around(8), around(10), {9, 9.5}}, Improves::upwards) == std::vector<bool>{false, true, false});
    CHECK(best_rows(Rows{around(8), around(10), {7}}, Improves::downwards) == std::vector<bool>{false, false, false});
    CHECK(best_rows(Rows{around(8), around(10), {9}}, Improves::downwards) == std::vector<bool>{true, false, false});
    CHECK(best_rows(Rows{around(8), around(10), {NAN, 12}}, Improves::upwards) ==
          std::vector<bool>{false, true, false});
}
