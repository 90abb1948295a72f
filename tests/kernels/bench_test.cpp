// Benchmarks: what they time, how they check it, and the roofline.

#include <cstdlib>
#include <initializer_list>
#include <set>
#include <sstream>
#include <utility>

#include "base/json.h"
#include "kernels/bench/cpu_peaks.h"
#include "kernels/bench/op_benches.h"
#include "kernels/bench/run_benchmarks.h"
#include "kernels/cases/all.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::kernels;

namespace {

const Peaks kPeaks{{100, 200}, {10, 8, 9, 40}};

// Describing all cases takes a second or two.
const std::vector<BenchCase>& all_benches() {
    static const std::vector<BenchCase> benches = op_benches(7);
    return benches;
}

}  // namespace

TEST_CASE("the roofline by hand: FLOPs at the FMA peak, bytes at the rate of what holds them") {
    PreparedBench bench;
    bench.flops = 1000;
    bench.bytes = 20;
    bench.footprint = 20;
    CHECK(kPeaks.least_seconds(bench, CacheState::cold) == 5);  // 1000 / 200 over 20 / 10
    bench.bytes = 200;
    CHECK(kPeaks.least_seconds(bench, CacheState::cold) == 20);
    CHECK(kPeaks.least_seconds(bench, CacheState::hot) == 5);  // 200 / 40 = 5 as well
    bench.bytes = 400;
    CHECK(kPeaks.least_seconds(bench, CacheState::hot) == 10);
    CHECK(kPeaks.ceilings(bench, CacheState::hot).is_cached);
    CHECK(kPeaks.ceilings(bench, CacheState::hot).bytes == 40);
    CHECK_FALSE(kPeaks.ceilings(bench, CacheState::cold).is_cached);
    CHECK(kPeaks.ceilings(bench, CacheState::cold).bytes == 10);
    CHECK(kPeaks.ceilings(bench, CacheState::cold).flops == 200);
    bench.footprint = 1e18;  // beyond any cache
    CHECK(kPeaks.least_seconds(bench, CacheState::hot) == 40);
}

TEST_CASE("a GPU's roofline has its own peaks, those of f32 or of bf16") {
    Peaks peaks = kPeaks;
    PreparedBench bench;
    bench.flops = 1000;
    bench.bytes = 400;
    bench.footprint = 64;
    CHECK(peaks.least_seconds(bench, CacheState::hot, kCudaF32) == 0);  // not measured
    peaks.device = CudaPeaks{"a GPU", 10, 200, 20, 40, 80, 64, 0, 0};
    CHECK(peaks.least_seconds(bench, CacheState::rotating, kCudaF32) == 100);
    CHECK(peaks.least_seconds(bench, CacheState::rotating, kCudaBf16) == 10);
    CHECK(peaks.least_seconds(bench, CacheState::cold, kCudaBf16) == 10);
    CHECK(peaks.least_seconds(bench, CacheState::hot, kCudaBf16) == 5);
    peaks.device->cached_read = 30;  // an L2 that is slower than memory bounds nothing
    CHECK_FALSE(peaks.ceilings(bench, CacheState::hot, kCudaBf16).is_cached);
    CHECK(peaks.ceilings(bench, CacheState::hot, kCudaBf16).bytes == 40);
    peaks.device->cached_read = 80;
    bench.footprint = 65;
    CHECK(peaks.least_seconds(bench, CacheState::hot, kCudaBf16) == 10);
    CHECK(peaks.least_seconds(bench, CacheState::hot) == 10);  // the CPU's: 400 / 40
}

TEST_CASE("a state of the caches is read as it is written") {
    for (const CacheState state : {CacheState::hot, CacheState::cold, CacheState::rotating})
        CHECK(cache_state(to_string(state)) == state);
    CHECK_FALSE(cache_state("warm").has_value());
}

TEST_CASE("a case is prepared once, timed hot and cold, and reported as Google Benchmark reports") {
    int prepared = 0, hot = 0, cold = 0;
    const std::vector<BenchCase> cases = {{"sum/10", "cpu", 10, 80, [&](int threads) {
                                               CHECK(threads == 3);
                                               ++prepared;
                                               PreparedBench bench;
                                               bench.flops = 10;
                                               bench.bytes = 80;
                                               bench.hot = [&hot] { ++hot; };
                                               bench.cold = [&cold] { ++cold; };
                                               return bench;
                                           }}};
    std::ostringstream json;
    int rows = 0;
    const std::vector<BenchResult> results = run_benchmarks(cases, {3, 1e-4, 4}, kPeaks, {{"deft_commit", "abc"}},
                                                            &json, [&](const BenchResult&) { ++rows; });
    CHECK(prepared == 1);
    CHECK(hot > 4);
    CHECK(cold > 4);
    CHECK(rows == 2);
    REQUIRE(results.size() == 2);
    for (const BenchResult& row : results) {
        CHECK(row.name == "sum/10");
        CHECK(row.seconds.size() == 4);
        for (const double seconds : row.seconds) CHECK(seconds > 0);
    }
    CHECK(results[0].state == CacheState::hot);
    CHECK(results[1].state == CacheState::cold);
    const Json report = Json::parse(json.str());
    CHECK(report.at("context").at("deft_commit") == "abc");
    std::set<std::string> names;
    for (const Json& row : report.at("benchmarks"))
        if (row.at("run_type") == "iteration") {
            names.insert(row.at("name"));
            CHECK(row.at("FLOP/s").get<double>() > 0);
        }
    CHECK(names.size() == 2);
}

TEST_CASE("a case whose outputs are wrong is not timed") {
    int runs = 0;
    const std::vector<BenchCase> cases = {{"sum/10", "cpu", 10, 80, [&](int) {
                                               PreparedBench bench;
                                               bench.wrong = "sum 10: total has a normalised error of 1.0e+00";
                                               bench.hot = bench.cold = [&runs] { ++runs; };
                                               return bench;
                                           }}};
    const auto results = run_benchmarks(cases, {1, 1e-4, 3}, kPeaks, {}, nullptr, [](const BenchResult&) {});
    CHECK(runs == 0);
    for (const BenchResult& row : results) {
        CHECK(row.seconds.empty());
        CHECK_THAT(row.wrong, ContainsSubstring("normalised error"));
    }
}

TEST_CASE("an op case becomes a benchmark that meets the reference, hot and cold") {
    for (const BenchCase& bench : all_benches()) {
        if (bench.name != "gather_rows/16/128/64/128/indexed" && bench.name != "sum/65536/accumulate") continue;
        INFO(bench.name);
        const PreparedBench prepared = bench.prepare(2);
        CHECK(prepared.wrong == "");
        CHECK(prepared.bytes == bench.bytes);
        CHECK(prepared.footprint > 0);
        for (int i = 0; i < 3; ++i) {
            prepared.hot();
            prepared.cold();
        }
    }
}

TEST_CASE("every op of the case table has a benchmark, and every benchmark its own name") {
    const auto op_name = [](const std::string& name) { return name.substr(0, name.find_first_of("/ ")); };
    std::set<std::string> tested, timed, names;
    for (const cases::OpCase& op : cases::all_cases(1))
        if (op.cpu) tested.insert(op_name(op.name));
    for (const BenchCase& bench : all_benches()) {
        timed.insert(op_name(bench.name));
        CHECK(names.insert(bench.name).second);
    }
    CHECK(tested == timed);
    CHECK(tested.size() > 15);
}

TEST_CASE("the peaks of memory are in order") {
    const MemoryPeak peak = measure_memory_peak(1);
    CHECK(peak.read > 1e8);
    CHECK(peak.copy > 1e8);
    CHECK(peak.update > 1e8);
    CHECK(peak.best() >= peak.update);
    CHECK(peak.cached_read > 1e8);
    CHECK(peak.cached_read < 2e12);  // of one core: beyond that the loop was not run
    CHECK(last_level_cache_bytes() >= 1 << 18);
}

TEST_CASE("a cache's size is that of the data that a processor reaches", "[roofline]") {
    const deft::test::TemporaryFolder folder;
    const auto describe = [&](int index, const char* level, const char* type, const char* size) {
        const std::filesystem::path cache = folder.path() / ("index" + std::to_string(index));
        std::filesystem::create_directory(cache);
        for (const auto& [file, text] : {std::pair{"level", level}, {"type", type}, {"size", size}})
            std::ofstream(cache / file) << text << "\n";
    };
    describe(0, "1", "Instruction", "64K");
    describe(1, "1", "Data", "48K");
    describe(2, "2", "Unified", "1024K");
    describe(3, "3", "Unified", "32M");
    CHECK(cache_bytes(1, folder.path()) == 48 << 10);
    CHECK(cache_bytes(2, folder.path()) == 1 << 20);
    CHECK(cache_bytes(3, folder.path()) == 32 << 20);
    CHECK_FALSE(cache_bytes(4, folder.path()).has_value());
    describe(3, "3", "Unified", "12");
    CHECK(cache_bytes(3, folder.path()) == 12);
    // Unreadable sizes are left to the C library, which may not know them either.
    describe(2, "2", "Unified", "99999999999999999999K");
    CHECK(cache_bytes(2, folder.path()) == cache_bytes(2, folder.path() / "nowhere"));
    CHECK(last_level_cache_bytes() > 0);
}
