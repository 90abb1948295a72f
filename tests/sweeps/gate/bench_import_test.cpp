// deft bench import through the program.

#include <algorithm>

#include "results_db/reader.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

constexpr const char* kForeign = R"({"context": {"date": "2024-05-01T10:00:00+02:00", "host_name": "box",
 "executable": "./build/sorts", "num_cpus": 6, "mhz_per_cpu": 2400, "caches": [], "library_build_type": "release"},
 "benchmarks": [
 {"name": "BM_sort/64", "run_name": "BM_sort/64", "run_type": "iteration", "threads": 1, "real_time": 3.5,
  "time_unit": "us"},
 {"name": "BM_sort/64", "run_name": "BM_sort/64", "run_type": "iteration", "threads": 1, "real_time": 4.5,
  "time_unit": "us"}]})";

}  // namespace

TEST_CASE("deft bench import stores another program's benchmarks once", "[bench_import]") {
    const TinySweep sweep("");
    const std::string file = sweep.folder.write("bench.json", kForeign), root = sweep.folder.path / "runs";
    const Ran ran = sweep.deft("bench", {"import", file, "--commit", "abc123", "--root", root});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("sorts") && ContainsSubstring("box") && ContainsSubstring("2024-05-01") &&
                            ContainsSubstring("abc123"));
    const Ran again = sweep.deft("bench", {"import", file, "--commit", "abc123", "--root", root});
    CHECK(again.exit_code == kExitOk);
    CHECK_THAT(again.out, ContainsSubstring("already"));
    const auto rows = results_db::Reader(root + "/results.db").benches();
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].kernel == "BM_sort");
    CHECK(rows[0].impl == "sorts");
    CHECK(rows[0].params_json == R"({"case":"64","threads":1})");
    CHECK(rows[0].started_ms == 1714550400000);
    CHECK(rows[0].git_sha == "abc123");
    CHECK(rows[0].seconds.size() == 2);
    CHECK_FALSE(rows[0].verified);  // nobody looked at its output
}

TEST_CASE("deft bench import says what is missing, and adds nothing then", "[bench_import]") {
    const TinySweep sweep("");
    const std::string root = sweep.folder.path / "runs";
    const auto import = [&](const std::string& text, std::vector<std::string> more = {}) {
        std::vector<std::string> words = {"import", sweep.folder.write("b.json", text), "--root", root};
        words.insert(words.end(), more.begin(), more.end());
        return sweep.deft("bench", words);
    };
    const std::string start = std::string(kForeign).substr(0, 300);
    const Ran cut = import(start);
    CHECK(cut.exit_code != kExitOk);
    const auto line = 1 + std::count(start.begin(), start.end(), '\n');
    CHECK_THAT(cut.err,
               ContainsSubstring("b.json:" + std::to_string(line) + ":") && ContainsSubstring("ends in the middle"));
    const Ran none = import(R"({"benchmarks": [{"name": "a", "error_occurred": true, "error_message": "no"}]})");
    CHECK(none.exit_code == kExitNothing);
    CHECK_THAT(none.err, ContainsSubstring("of a, it failed: no"));
    const std::string bare = R"({"benchmarks": [{"name": "a", "real_time": 1}, {"name": "b", "real_time": 0}]})";
    const Ran nameless = import(bare);
    CHECK(nameless.exit_code == kExitUsage);
    CHECK_THAT(nameless.err, ContainsSubstring("--name PROGRAM"));
    CHECK_FALSE(std::filesystem::exists(root));
    const Ran named = import(bare, {"--name", "prog", "--host", "here", "--compiler", "clang 17"});
    CHECK(named.exit_code == kExitOk);
    CHECK_THAT(named.out, ContainsSubstring("no date") && ContainsSubstring("Left out: b: its real_time is 0 s") &&
                              ContainsSubstring("--commit") && ContainsSubstring("clang 17"));
}

TEST_CASE("what deft bench run wrote continues its series elsewhere", "[bench_import][slow]") {
    const TinySweep sweep("");
    const std::filesystem::path here = sweep.folder.path / "here", there = sweep.folder.path / "there";
    const std::string json = sweep.folder.path / "bench.json";
    const Ran run = sweep.deft("bench", {"run", "-k", "gather_rows/16/*", "--threads", "1", "--min-time", "0.001",
                                         "--repetitions", "3", "--root", here, "--json-file", json});
    REQUIRE(run.exit_code == kExitOk);
    REQUIRE(sweep.deft("bench", {"import", json, "--root", there}).exit_code == kExitOk);
    const auto measured = results_db::Reader(here / "results.db").benches();
    const auto imported = results_db::Reader(there / "results.db").benches();
    REQUIRE(imported.size() == measured.size());
    for (std::size_t i = 0; i < measured.size(); ++i) {
        const results_db::BenchRow &one = measured[i], &other = imported[i];
        CHECK(one.kernel == other.kernel);
        CHECK(one.impl == other.impl);
        CHECK(one.params_json == other.params_json);
        CHECK(one.git_sha == other.git_sha);
        CHECK(one.host_fingerprint == other.host_fingerprint);
        CHECK(other.verified);
        REQUIRE(one.seconds.size() == other.seconds.size());
        for (std::size_t k = 0; k < one.seconds.size(); ++k)
            CHECK(other.seconds[k] == Approx(one.seconds[k]).epsilon(1e-9));
    }
}
