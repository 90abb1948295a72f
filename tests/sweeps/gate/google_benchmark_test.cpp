// Google Benchmark's JSON, as its versions write it, and as it should not be.

#include "sweeps/gate/google_benchmark.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft;
using sweeps::GoogleBenchmarkFile;
using test::TemporaryFolder;

namespace {

GoogleBenchmarkFile parse(const std::string& text) {
    return sweeps::parse_google_benchmark(text, "bench.json");
}

GoogleBenchmarkFile parse_rows(const std::string& rows) {
    return parse(R"({"context": {"date": "2024-05-01T10:00:00+02:00"}, "benchmarks": [)" + rows + "]}");
}

}  // namespace

TEST_CASE("repetitions of one benchmark are its samples, in any unit of time") {
    const GoogleBenchmarkFile file = parse_rows(R"(
        {"name": "BM_a/8/min_time:0.050/repeats:2/real_time", "run_name": "BM_a/8/min_time:0.050/repeats:2/real_time",
         "family_index": 0, "per_family_instance_index": 0, "run_type": "iteration", "repetition_index": 0,
         "threads": 1, "iterations": 10, "real_time": 2.5, "cpu_time": 2, "time_unit": "us", "FLOP/s": 4e6},
        {"name": "BM_a/8/min_time:0.050/repeats:2/real_time", "run_name": "BM_a/8/min_time:0.050/repeats:2/real_time",
         "family_index": 0, "per_family_instance_index": 0, "run_type": "iteration", "repetition_index": 1,
         "threads": 1, "iterations": 10, "real_time": 3e3, "cpu_time": 2, "time_unit": "ns"},
        {"name": "BM_a/8_mean", "run_name": "BM_a/8/min_time:0.050/repeats:2/real_time", "family_index": 0,
         "per_family_instance_index": 0, "run_type": "aggregate", "aggregate_name": "mean", "threads": 1,
         "aggregate_unit": "time", "real_time": 2.75, "time_unit": "us"},
        {"name": "BM_b/threads:2", "run_name": "BM_b/threads:2", "run_type": "iteration", "threads": 2,
         "real_time": 1.5, "time_unit": "ms"},
        {"name": "BM_b/threads:4", "run_name": "BM_b/threads:4", "run_type": "iteration", "threads": 4,
         "real_time": 2, "time_unit": "s"})");
    REQUIRE(file.benchmarks.size() == 3);
    CHECK(file.left_out.empty());
    CHECK(file.benchmarks[0].name == "BM_a/8/real_time");
    REQUIRE(file.benchmarks[0].seconds.size() == 2);
    CHECK(file.benchmarks[0].seconds[0] == Approx(2.5e-6));
    CHECK(file.benchmarks[0].seconds[1] == Approx(3e-6));
    CHECK_FALSE(file.benchmarks[0].summarised);
    CHECK(file.benchmarks[1].name == "BM_b");
    CHECK(file.benchmarks[1].threads == 2);
    CHECK(file.benchmarks[1].seconds == std::vector<double>{1.5e-3});
    CHECK(file.benchmarks[2].threads == 4);
    CHECK(file.benchmarks[2].seconds == std::vector<double>{2});
    CHECK(file.context.at("date") == "2024-05-01T10:00:00+02:00");
}

TEST_CASE("a file with aggregates alone gives medians, and old versions are understood") {
    const GoogleBenchmarkFile aggregates = parse_rows(R"(
        {"name": "BM_a_mean", "run_name": "BM_a", "run_type": "aggregate", "aggregate_name": "mean",
         "aggregate_unit": "time", "real_time": 9, "time_unit": "ns"},
        {"name": "BM_a_median", "run_name": "BM_a", "run_type": "aggregate", "aggregate_name": "median",
         "aggregate_unit": "time", "real_time": 7, "time_unit": "ns"},
        {"name": "BM_a_stddev", "run_name": "BM_a", "run_type": "aggregate", "aggregate_name": "stddev",
         "aggregate_unit": "time", "real_time": 1, "time_unit": "ns"},
        {"name": "BM_a_cv", "run_name": "BM_a", "run_type": "aggregate", "aggregate_name": "cv",
         "aggregate_unit": "percentage", "real_time": 0.1, "time_unit": "ns"},
        {"name": "BM_a_BigO", "run_name": "BM_a", "run_type": "aggregate", "aggregate_name": "BigO",
         "big_o": "N", "real_coefficient": 2})");
    REQUIRE(aggregates.benchmarks.size() == 1);
    CHECK(aggregates.benchmarks[0].seconds[0] == Approx(7e-9));
    CHECK(aggregates.benchmarks[0].summarised);

    const GoogleBenchmarkFile old = parse_rows(R"(
        {"name": "BM_a/8", "iterations": 3, "real_time": 5, "cpu_time": 5, "time_unit": "ns"},
        {"name": "BM_a/8_mean", "iterations": 3, "real_time": 50, "cpu_time": 5, "time_unit": "ns"},
        {"name": "BM_a/8_stddev", "iterations": 3, "real_time": 500, "cpu_time": 5, "time_unit": "ns"})");
    REQUIRE(old.benchmarks.size() == 1);
    CHECK(old.benchmarks[0].name == "BM_a/8");
    CHECK(old.benchmarks[0].seconds[0] == Approx(5e-9));
}

TEST_CASE("a benchmark named like an aggregate's ending or like settings keeps its name") {
    const GoogleBenchmarkFile file = parse_rows(R"({"name": "_mean", "real_time": 2, "time_unit": "s"},
        {"name": "BM_a", "run_name": "/threads:2", "real_time": 2, "time_unit": "s"})");
    REQUIRE(file.benchmarks.size() == 2);
    CHECK(file.benchmarks[0].name == "_mean");
    CHECK(file.benchmarks[1].name == "/threads:2");
}

TEST_CASE("two benchmarks of one name stay two") {
    const GoogleBenchmarkFile file = parse_rows(R"(
        {"name": "BM_a", "run_name": "BM_a", "family_index": 0, "per_family_instance_index": 0,
         "run_type": "iteration", "real_time": 1, "time_unit": "ns"},
        {"name": "BM_a", "run_name": "BM_a", "family_index": 1, "per_family_instance_index": 0,
         "run_type": "iteration", "real_time": 2, "time_unit": "ns"})");
    REQUIRE(file.benchmarks.size() == 2);
    CHECK(file.benchmarks[0].name == "BM_a");
    CHECK(file.benchmarks[1].name == "BM_a#2");
}

TEST_CASE("what is wrong with one benchmark leaves that one out, with the reason") {
    const GoogleBenchmarkFile file = parse_rows(R"(
        {"name": "good", "real_time": 1, "time_unit": "ns", "counter": NaN, "other": -Infinity, "text": "NaN \" inf"},
        {"name": "failed", "run_type": "iteration", "error_occurred": true, "error_message": "no such luck"},
        {"name": "skipped", "run_type": "iteration", "skipped": true, "skip_message": "too small"},
        {"name": "nan", "real_time": NaN, "time_unit": "ns"},
        {"name": "zero", "real_time": 0, "time_unit": "ns"},
        {"name": "negative", "real_time": -1, "time_unit": "ns"},
        {"name": "endless", "real_time": inf, "time_unit": "ns"},
        {"name": "text", "real_time": "1", "time_unit": "ns"},
        {"name": "fortnights", "real_time": 1, "time_unit": "fortnight"},
        {"real_time": 1}, 7, null, {"name": 3})");
    REQUIRE(file.benchmarks.size() == 1);
    CHECK(file.benchmarks[0].name == "good");
    REQUIRE(file.left_out.size() == 12);
    const auto why = [&](const std::string& name) {
        for (const auto& [left_out, reason] : file.left_out)
            if (left_out == name) return reason;
        return std::string("not left out");
    };
    CHECK(why("failed") == "it failed: no such luck");
    CHECK(why("skipped") == "it was skipped: too small");
    CHECK(why("nan") == "it has no real_time");
    CHECK(why("zero") == "its real_time is 0 s");
    CHECK(why("text") == "it has no real_time");
    CHECK(why("fortnights") == "its time unit is 'fortnight'");
}

TEST_CASE("a file without benchmark JSON is refused with its place") {
    const std::string good = R"({"context": {}, "benchmarks": [
 {"name": "a", "real_time": 1, "time_unit": "ns"}]})";
    CHECK(parse(good).benchmarks.size() == 1);
    for (std::size_t size = 0; size < good.size(); ++size) {
        INFO(size);
        CHECK_THROWS_AS(parse(good.substr(0, size)), Error);
    }
    CHECK_THROWS_WITH(parse(good.substr(0, 60)),
                      ContainsSubstring("bench.json:2:") && ContainsSubstring("ends in the middle"));
    CHECK_THROWS_WITH(parse("{\n  \"benchmarks\": [oops]}"), ContainsSubstring("bench.json:2:") &&
                                                                 ContainsSubstring("not valid JSON") &&
                                                                 ContainsSubstring("--benchmark_out=FILE"));
    for (const char* other : {"[]", "{}", "3", "\"x\"", R"({"benchmarks": {}})", R"({"benchmarks": null})"})
        CHECK_THROWS_WITH(parse(other), ContainsSubstring("no list of \"benchmarks\""));
    CHECK_THROWS_WITH(parse("{\"benchmarks\": [{\"name\": \"\xff\"}]}"), ContainsSubstring("not valid JSON"));
    CHECK_THROWS_WITH(parse(R"({"benchmarks": [{"name": "a", "real_time": 1e999}]})"),
                      ContainsSubstring("out of range"));
    CHECK_THROWS_WITH(parse(std::string(1 << 20, '[')), ContainsSubstring("nested too deeply"));
    CHECK(parse(R"({"context": 3, "benchmarks": []})").context.is_object());
}

TEST_CASE("files that no benchmark writes are refused before they are read") {
    const TemporaryFolder folder;
    CHECK_THROWS_WITH(sweeps::read_google_benchmark(folder / "none.json"), ContainsSubstring("does not exist"));
    CHECK_THROWS_WITH(sweeps::read_google_benchmark("/dev/zero"), ContainsSubstring("cannot be read"));
    const std::filesystem::path huge = folder / "huge.json";
    write_file_atomically(huge, "");
    std::filesystem::resize_file(huge, std::uintmax_t{1} << 33);  // a hole
    CHECK_THROWS_WITH(sweeps::read_google_benchmark(huge), ContainsSubstring("8192 MiB"));
}
