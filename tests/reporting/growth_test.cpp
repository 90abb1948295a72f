// Filling cells and comparing pairs take time in proportion to the rows.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "reporting/analysis/compare/compare.h"
#include "reporting/analysis/comparison/columns.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft::reporting;
using deft::reporting::Results;
using deft::reporting::Trial;

namespace {

// Two recipes at as many learning rates as it takes, three seeds a row.
Results sweep_of(int rows) {
    std::vector<Trial> trials;
    for (int row = 0; row < rows; ++row)
        for (std::int64_t seed = 1; seed <= 3; ++seed) {
            const std::string axes =
                fmt::format(R"({{"model.layers":2,"model.width":64,"train.learning_rate":{}}})", row / 2 + 1);
            trials.push_back(a_finished_trial(row % 2 == 0 ? "plain" : "CL", axes.c_str(), seed,
                                              2 + 0.001 * static_cast<double>(row % 7 + seed * seed)));
        }
    return a_sweep_of(std::move(trials));
}

// Processor seconds, the least of twelve times: other processes share the caches.
template <class Work>
double seconds_of(const Work& work) {
    double least = 1e9;
    for (int i = 0; i < 12; ++i) {
        const std::clock_t begin = std::clock();
        work();
        least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return least;
}

double cells_seconds(int count) {
    const Results sweep = sweep_of(count);
    const std::vector<Row> rows = rows_of(sweep);
    return seconds_of([&] {
        for (const Resource& resource : resources()) {
            const deft::reporting::Field field = resource_field(resource, rows, "plain");
            for (const Row& row : rows) (void)field.cell(row);
        }
    });
}

double comparison_seconds(int count) {
    const Results sweep = sweep_of(count);
    const std::vector<Row> rows = rows_of(sweep);
    const Curves none;
    const auto side = [&](const char* name) {
        CompareSide one{name, &sweep, &rows, &none, CompareSide::Kind::recipe_rows};
        for (const Row& row : rows)
            if (row.recipe == name) one.chosen.push_back(row);
        return one;
    };
    const CompareSide a = side("plain"), b = side("CL");
    return seconds_of([&] {
        const Comparison comparison = compare(a, b, Cost::layer_tokens, [](const auto&, const auto&) { return ""; });
        CHECK(comparison.rows.size() == static_cast<std::size_t>(count) / 2);
        CHECK(comparison.rows.front().scores.front().p_value);
    });
}

}  // namespace

// Quadratic time is sixteen times as much.
TEST_CASE("four times the rows take less than eight times as long to fill and to compare") {
    const double cells = cells_seconds(500), more_cells = cells_seconds(2000);
    std::printf("cells of 500 rows %.4f s, of 2,000 %.4f s\n", cells, more_cells);
    CHECK(more_cells < 8 * cells);
    const double comparison = comparison_seconds(100), more = comparison_seconds(400);
    std::printf("comparison of 100 rows %.4f s, of 400 %.4f s\n", comparison, more);
    CHECK(more < 8 * comparison);
}
