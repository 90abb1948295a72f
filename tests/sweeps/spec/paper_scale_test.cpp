// What the repository's sweeps score at the papers' scale.

#include <algorithm>

#include "base/score_key.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/published_tables.h"
#include "tests/sweeps/files.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

// Tasks by which columns of the table are measured, but for the validation, which every trial has.
std::vector<std::string> measured_tasks(const reporting::PublishedTable& table) {
    std::vector<std::string> names;
    for (const reporting::PublishedColumn& column : table.columns)
        if (column.measures && column.measures->kind == reporting::Quantity::Kind::task && column.measures->name != kValidationTask)
            names.push_back(column.measures->name);
    return names;
}

}  // namespace

TEST_CASE("at the paper's scale a sweep asks for every task that measures a column of its table") {
    std::size_t asked = 0;
    for (const char* name : {"moe_inference", "moe_quality"}) {
        SpecOptions options;
        options.scale = "paper";
        const Spec spec = load_spec(std::filesystem::path(DEFT_SOURCE_DIR) / "sweeps" / (std::string(name) + ".toml"), options);
        const auto table = published_table(spec.paper);
        REQUIRE(table);
        const std::vector<Point> points = expand(spec, Data::may_be_missing);
        for (const std::string& task : measured_tasks(*table)) {
            INFO(name << ": " << task);
            CHECK(std::any_of(points.begin(), points.end(), [&](const Point& point) {
                return std::ranges::count(point.config.eval.tasks, task) > 0;
            }));
            ++asked;
        }
    }
    CHECK(asked == 7);  // one and six
}
