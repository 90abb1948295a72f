// deft bench through the program.

#include "results_db/store.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

TEST_CASE("deft bench run checks, times and stores the cases that match") {
    const TinySweep sweep("");
    const std::filesystem::path root = sweep.folder.path / "runs", json = sweep.folder.path / "bench.json";
    const Ran ran = sweep.deft("bench", {"run", "-k", "gather_rows/16/*", "--threads", "1", "--min-time", "0.001",
                                         "--repetitions", "3", "--root", root, "--json", json});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("gather_rows/16/128/64/128/indexed") && ContainsSubstring("cold") &&
                            ContainsSubstring("compared with the double-precision reference"));
    CHECK(Json::parse(read_file(json)).at("benchmarks").size() >= 6);
    const auto rows = results_db::Reader(root / "results.db").benches();
    REQUIRE(rows.size() == 2);
    for (const results_db::BenchRow& row : rows) {
        CHECK(row.kernel == "gather_rows");
        CHECK(row.seconds.size() == 3);
        CHECK(row.verified);
    }
    const Ran none = sweep.deft("bench", {"run", "-k", "no_such_*", "--root", root});
    CHECK(none.exit_code != kExitOk);
    CHECK_THAT(none.err, ContainsSubstring("no case matches no_such_*") && ContainsSubstring("deft bench list"));
}

TEST_CASE("deft profile breaks down a step of a sweep's trial, and writes a trace") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n");
    const std::filesystem::path trace = sweep.folder.path / "trace.json";
    const Ran ran = sweep.deft("profile", {sweep.file.string(), "--steps", "2", "--threads", "1", "--root",
                                           sweep.folder.path / "runs", "--trace", trace});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("linear_backward_weight") && ContainsSubstring("no op") &&
                            ContainsSubstring("of roofline"));
    CHECK(Json::parse(read_file(trace)).at("traceEvents").size() > 10);
}
