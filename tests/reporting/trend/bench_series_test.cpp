#include "reporting/analysis/trend/bench_series.h"

#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;
using results_db::BenchHistoryRow;

namespace {

constexpr std::int64_t kMinuteMs = 60'000;

BenchHistoryRow a_launch(std::int64_t minute, double seconds) {
    BenchHistoryRow row;
    row.kernel = "linear";
    row.impl = "cpu";
    row.params_json = R"({"case":"64x64","caches":"hot","threads":2})";
    row.hostname = "node1";
    row.host_fingerprint = "0a1b2c3d4e5f";
    row.compiler = "GNU 12.2.0";
    row.code_id = 1;
    row.git_sha = "c1";
    row.started_ms = minute * kMinuteMs;
    row.ended_ms = row.started_ms + kMinuteMs;
    row.seconds = seconds;
    return row;
}

}  // namespace

TEST_CASE("launches of the same code within half an hour are one session, by their median") {
    std::vector<BenchHistoryRow> rows = {a_launch(0, 3), a_launch(2, 1), a_launch(30, 2),  // one session
                                         a_launch(62, 8),                                  // 31 minutes later
                                         a_launch(64, 4)};
    rows[4].code_id = 2;  // another build
    const auto series = bench_series(rows);
    REQUIRE(series.size() == 1);
    REQUIRE(series[0].points.size() == 3);
    CHECK(series[0].points[0].seconds == 2);
    CHECK(series[0].points[0].launches == 3);
    CHECK(series[0].points[0].started_ms == 0);
    CHECK(series[0].points[1].seconds == 8);
    CHECK(series[0].points[2].seconds == 4);
    CHECK(series[0].case_name == "linear/64x64");
    CHECK(series[0].name == "linear/64x64 (cpu, hot, 2 threads)");
    CHECK(series[0].where == "node1 0a1b2c3d, GNU 12.2.0");
}

TEST_CASE("case, machine and compiler distinguish series") {
    for (const auto& change :
         {+[](BenchHistoryRow& row) { row.params_json = R"({"case":"64x64","caches":"cold"})"; },
          +[](BenchHistoryRow& row) { row.host_fingerprint = "ffff"; },
          +[](BenchHistoryRow& row) { row.compiler = "GNU 13"; }, +[](BenchHistoryRow& row) { row.version = 2; },
          +[](BenchHistoryRow& row) { row.impl = "cuda"; }}) {
        std::vector<BenchHistoryRow> rows = {a_launch(0, 3), a_launch(2, 1)};
        change(rows[1]);
        CHECK(bench_series(rows).size() == 2);
    }
}

TEST_CASE("parameters of other programs are shown as they are") {
    BenchHistoryRow row = a_launch(0, 1);
    row.params_json = R"({"args":[1,2],"note":""})";
    CHECK(bench_series(std::vector{row})[0].name == "linear (cpu, args [1,2])");
    row.params_json = "[1]";
    CHECK(bench_series(std::vector{row})[0].name == "linear (cpu)");
    CHECK(bench_series({}).empty());
}
