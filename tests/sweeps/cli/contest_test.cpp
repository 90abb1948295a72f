// Contestants that were timed become rows: their names, their cells, and their time in those of others.

#include "sweeps/cli/contest.h"

#include <fmt/format.h>

#include "tests/catch.h"

using namespace deft;
using namespace deft::cli;

namespace {

sweeps::Contestant timed_contestant(const std::string& name, std::vector<std::size_t> beside,
                                    std::vector<double> seconds) {
    const auto cells = [](double median) { return std::vector{fmt::format("{:.1f} s", median)}; };
    return {{"deft", name}, {}, cells, std::move(beside), std::move(seconds)};
}

}  // namespace

TEST_CASE("a contestant's row has its names, the cells of its median and its time in those of others") {
    reporting::Table table;
    sweeps::Contestant unlisted = timed_contestant("sum", {0}, {9});
    unlisted.cells = {};
    add_rows(table, {timed_contestant("one", {0, 2}, {1, 2, 3}), unlisted, timed_contestant("two", {0, 2}, {2, 4, 6})});
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0] == std::vector<reporting::Cell>{"deft", "one", "2.0 s", "1", "0.500x"});
    CHECK(table.rows[1] == std::vector<reporting::Cell>{"deft", "two", "4.0 s", "2.000x", "1"});
}

TEST_CASE("standard models are named by places from 1") {
    const auto models = standard_models({3, 1});
    REQUIRE(models.size() == 2);
    CHECK(engine::sizes_of(models[0]) == engine::sizes_of(engine::standard_step_benches()[2]));
    CHECK(engine::sizes_of(models[1]) == engine::sizes_of(engine::standard_step_benches()[0]));
}
