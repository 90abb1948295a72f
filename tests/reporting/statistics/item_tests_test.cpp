#include "reporting/analysis/statistics/item_tests.h"

#include <cmath>
#include <memory>
#include <vector>

#include "base/error.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

// So many documents that both, the first, the second or neither has right.
ItemTest of_counts(std::size_t both, std::size_t first, std::size_t second, std::size_t neither) {
    const std::size_t all = both + first + second + neither;
    const auto a = std::make_unique<bool[]>(all), b = std::make_unique<bool[]>(all);
    for (std::size_t i = 0; i < all; ++i) {
        a[i] = i < both + first;
        b[i] = i < both || (i >= both + first && i < both + first + second);
    }
    return mcnemar({a.get(), all}, {b.get(), all});
}

}  // namespace

// Computed by hand: of 10 discordant documents the second has 9: 2 (1 + 10) / 1024.
TEST_CASE("documents that only one model has right decide") {
    const ItemTest test = of_counts(30, 1, 9, 60);
    CHECK(test.documents == 100);
    CHECK(test.difference == Approx(0.08));
    CHECK(test.p_value == Approx(22.0 / 1024));
    CHECK(of_counts(30, 9, 1, 60).difference == Approx(-0.08));
    CHECK(of_counts(30, 9, 1, 60).p_value == Approx(22.0 / 1024));
    // Agreement says nothing: however many both have right, p is the same.
    CHECK(of_counts(0, 1, 9, 0).p_value == Approx(22.0 / 1024));
    CHECK(of_counts(5, 4, 4, 5).p_value == 1);
    CHECK(of_counts(5, 0, 0, 5).p_value == 1);
    CHECK(of_counts(0, 0, 5, 0).p_value == Approx(2.0 / 32));
    CHECK_FALSE(of_counts(1, 0, 0, 0).interval);
    CHECK_FALSE(of_counts(5, 0, 0, 5).interval);
    CHECK(of_counts(5, 0, 1, 5).interval);
    CHECK_THROWS_AS(of_counts(0, 0, 0, 0), Error);
}

// Computed by hand: differences 1, 2, 3, mean 2, error 1 / sqrt(3), t = 3.4641 of 2 degrees: p = 0.07418; t(97.5%, 2)
// = 4.3027.
TEST_CASE("numbers of the same documents are compared by their differences") {
    const ItemTest test = paired_items(std::vector<double>{1, 1, 1}, std::vector<double>{2, 3, 4});
    CHECK(test.difference == Approx(2));
    CHECK(test.p_value == Approx(0.07418).epsilon(1e-3));
    CHECK(test.interval->low == Approx(2 - 4.302653 / std::sqrt(3)));
    CHECK(test.interval->high == Approx(2 + 4.302653 / std::sqrt(3)));
    // Two that moved alike show no spread.
    for (const std::vector<double>& b : {std::vector<double>{2, 3}, std::vector<double>{1, 2}}) {
        const ItemTest alike = paired_items(std::vector<double>{1, 2}, b);
        CHECK(alike.difference == b[0] - 1);
        CHECK_FALSE(alike.interval);
        CHECK(alike.p_value == 1);
    }
    CHECK_THROWS_AS(paired_items(std::vector<double>{1}, std::vector<double>{1}), Error);
    CHECK_THROWS_AS(paired_items(std::vector<double>{1, 2}, std::vector<double>{1, 2, 3}), Error);
    CHECK_THROWS_AS(paired_items(std::vector<double>{1, 2}, std::vector<double>{1, NAN}), Error);
}
