// Searches whose answer is known.

#include "experiments/tuning/tune.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/catch.h"

using deft::experiments::find_first_passing;
using deft::experiments::Search;

namespace {

Search search_above(std::size_t size, std::size_t threshold) {
    return find_first_passing(size, [&](std::size_t index) { return index >= threshold; });
}

}  // namespace

TEST_CASE("bisection: finds every threshold of every grid, asking no index twice and seldom") {
    for (std::size_t size = 1; size <= 40; ++size)
        for (std::size_t threshold = 0; threshold < size; ++threshold) {
            INFO(size << " " << threshold);
            const Search search = search_above(size, threshold);
            REQUIRE(search.best);
            CHECK(*search.best == threshold);
            CHECK(search.monotone);
            CHECK(!search.stopped);
            std::set<std::size_t> asked;
            for (const Search::Tried& tried : search.tried) {
                asked.insert(tried.index);
                CHECK(tried.passes == (tried.index >= threshold));
            }
            CHECK(asked.size() == search.tried.size());
            const double bisections = size > 2 ? std::ceil(std::log2(static_cast<double>(size - 1))) : 0;
            CHECK(static_cast<double>(search.tried.size()) <= 2 + bisections);
        }
}

TEST_CASE("bisection: nothing passes") {
    const Search search = search_above(9, 9);
    CHECK(!search.best);
    CHECK(search.monotone);
    CHECK(search.tried.size() == 2);
    CHECK(!find_first_passing(0, [](std::size_t) { return true; }).best);
    CHECK(!search_above(1, 1).best);
}

TEST_CASE("bisection: ends that contradict the order are reported") {
    const Search search = find_first_passing(9, [](std::size_t index) { return index < 8; });
    CHECK(search.best == 0u);
    CHECK(!search.monotone);
}

TEST_CASE("bisection: a search that is stopped gives the best so far") {
    for (std::size_t answers = 0; answers <= 5; ++answers) {
        std::size_t asked = 0;
        const Search search = find_first_passing(33, [&](std::size_t index) -> std::optional<bool> {
            if (asked++ == answers) return {};
            return index >= 5;
        });
        INFO(answers);
        CHECK(search.stopped);
        CHECK(search.tried.size() == answers);
        // Asked: 0 no, 32 yes, 16 yes, 8 yes, 4 no, 6 yes.
        const std::optional<std::size_t> expected[] = {{}, {}, 32, 16, 8, 8};
        CHECK(search.best == expected[answers]);
    }
}
