// Benchmarks on the CUDA device, real or emulated: what deft bench run runs, on small cases.

#include <cmath>
#include <set>
#include <sstream>

#include "base/json.h"
#include "kernels/bench/cpu_peaks.h"
#include "kernels/bench/cuda/device_timer.h"
#include "kernels/bench/cuda/sum_words.h"
#include "kernels/bench/op_benches.h"
#include "kernels/bench/run_benchmarks.h"
#include "kernels/cases/case_table.h"
#include "kernels/cases/norm.h"
#include "results_db/reader.h"
#include "sweeps/cli/commands.h"
#include "sweeps/gate/import_bench.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace deft::kernels {
namespace {

using cases::CaseTable;
using cases::Draw;
using cases::OpCase;

constexpr cases::StreamShape kShape{2, 9, 4, 16};
const Peaks kPeaks{{100, 200}, {10, 8, 9, 40}, CudaPeaks{"a GPU", 1000, 2000, 10, 8, 40, 1 << 20, 0, 0}};

template <class Make>
std::vector<BenchCase> benches_of(Make make, BenchBackends backends = BenchBackends::cuda) {
    const auto table = std::make_shared<CaseTable>(cases::Sizes::odd);
    table->add(make);
    return op_benches(table, 3, backends);
}

std::vector<BenchResult> run(const std::vector<BenchCase>& benches, std::ostream* json = nullptr) {
    return run_benchmarks(benches, {1, 1e-4, 3}, kPeaks, {}, json, [](const BenchResult&) {});
}

TEST_CASE("a case is timed cold, hot and rotating on the device, in f32 and in bf16, and hot and cold on the CPU") {
    const auto benches =
        benches_of([](Draw draw) { return cases::gather_rows_case(draw, kShape); }, BenchBackends::all);
    std::ostringstream json;
    const std::vector<BenchResult> results = run(benches, &json);
    std::vector<std::string> rows;
    for (const BenchResult& row : results) {
        rows.push_back(row.backend + " " + to_string(row.state));
        CHECK(row.name == "gather_rows/2/9/4/16/indexed");
        CHECK(row.wrong == "");
        CHECK(row.seconds.size() == 3);
        for (const double seconds : row.seconds) CHECK(seconds > 0);
        CHECK(row.least_seconds > 0);
    }
    CHECK(rows == std::vector<std::string>{"cpu hot", "cpu cold", "cuda-f32 cold", "cuda-f32 hot", "cuda-f32 rotating",
                                           "cuda-bf16 cold", "cuda-bf16 hot", "cuda-bf16 rotating"});
    // 2 x 4 rows of 16 in and out, and 8 indices
    CHECK(results[2].bytes == 4 * (128 + 128 + 8));
    CHECK(results[5].bytes == 2 * (128 + 128) + 4 * 8);
    CHECK_THAT(json.str(), ContainsSubstring("gather_rows/2/9/4/16/indexed/cuda-bf16/rotating"));
    CHECK_THAT(json.str(), ContainsSubstring("manual_time"));
}

TEST_CASE("an error on the device is reported, and not timed") {
    int runs = 0;
    const auto benches = benches_of([&](Draw draw) {
        OpCase op = cases::gather_rows_case(draw, kShape);
        op.cuda_f32 = [&](cuda::Exec&, const cases::Arguments<float>&) { ++runs; };  // leaves the output as it was
        return op;
    });
    const std::vector<BenchResult> results = run(benches);
    CHECK(runs == 1);
    REQUIRE(results.size() == 6);
    for (const BenchResult& row : results)
        if (row.backend == kCudaF32) {
            CHECK(row.seconds.empty());
            CHECK_THAT(row.wrong, ContainsSubstring("out has a normalised error"));
        } else {
            CHECK(row.wrong == "");
            CHECK(row.seconds.size() == 3);
        }
}

TEST_CASE("copies of the arguments that take turns are three times the cache, and one more") {
    CHECK(ring_copies(100, 1000) == 31);
    CHECK(ring_copies(999, 1000) == 5);  // 3.003 rounded up
    CHECK(ring_copies(1e12, 1000) == 2);
    CHECK(ring_copies(0, 1e9) == 4096);
    CHECK(ring_copies(1, 1e9) == 4096);

    constexpr cases::StreamShape kLarge{4, 64, 32, 64};
    std::set<float*> places;
    const auto benches = benches_of([&](Draw draw) {
        OpCase op = cases::gather_rows_case(draw, kLarge);
        op.cuda_f32 = [&, gather = op.cuda_f32](cuda::Exec& exec, const cases::Arguments<float>& b) {
            places.insert(b[0]);
            gather(exec, b);
        };
        return op;
    });
    const PreparedBench bench = benches.front().prepare(1);
    REQUIRE(bench.wrong == "");
    CHECK(bench.footprint == 4 * (4 * 32 * 64 + 4 * 64 * 64 + 4 * 32));
    places.clear();
    bench.on_device(CacheState::hot);
    bench.on_device(CacheState::cold);
    CHECK(places.size() == 1);
    const std::size_t copies = ring_copies(bench.footprint, static_cast<double>(cuda::l2_cache_bytes()));
    for (std::size_t runs = 0; runs < copies;)
        runs += static_cast<std::size_t>(bench.on_device(CacheState::rotating).runs);
    CHECK(places.size() == copies);
}

TEST_CASE("a flush reads twice the cache after it has written it") {
    cuda::DeviceTimer timer;
    CHECK(timer.flushed_bytes() == 2 * static_cast<std::size_t>(cuda::l2_cache_bytes()));
    for (std::uint32_t pattern = 1; pattern <= 3; ++pattern) {
        timer.flush();
        CHECK(timer.flushed_sum() == static_cast<std::uint32_t>(timer.flushed_bytes() / 4 * 0x01010101u * pattern));
    }
}

TEST_CASE("the peaks of the device are measured, and are its rows' roofline") {
    const CudaPeaks peaks = measure_cuda_peaks();
    CHECK(peaks.device == cuda::devices().front().name);
    CHECK(peaks.cache_bytes == cuda::l2_cache_bytes());
    for (const double peak : {peaks.f32_flops, peaks.bf16_flops, peaks.read, peaks.copy, peaks.cached_read}) {
        CHECK(peak > 1e5);
        CHECK(peak < 1e17);
    }
    CHECK(peaks.nothing_seconds >= 0);
    CHECK(peaks.empty_kernel_seconds > 0);
    CHECK(peaks.launch_seconds > 0);
    CHECK(peaks.exponentials > 0);
}

TEST_CASE("the kernel that times exponentials computes each of them") {
    cuda::DeviceTimer timer;
    constexpr std::int64_t kItems = 300;  // more than a block
    const cuda::DeviceMemory out(cuda::allocate((kItems + 1) * sizeof(float)));
    std::vector<float> values(kItems + 1, 7.0f);
    cuda::copy_to_device(timer.exec(), out.get(), values.data(), values.size() * sizeof(float));
    cuda::run_exponentials(timer.exec(), static_cast<float*>(out.get()), kItems);
    cuda::copy_to_host(timer.exec(), values.data(), out.get(), values.size() * sizeof(float));
    for (std::int64_t i = 0; i < kItems; ++i) {
        double sum = 0;
        for (int j = 0; j < 4; ++j) {
            double x = static_cast<double>(i % 64) / 64 + j / 8.0;
            for (int round = 0; round < cuda::kExponentialsOfItem / 4; ++round) x = std::exp2(-x);
            sum += x / 4;
        }
        CHECK(values[static_cast<std::size_t>(i)] == Approx(sum).epsilon(1e-5));
    }
    CHECK(values.back() == 7.0f);
}

TEST_CASE("deft bench run stores the rows of the device, and its file continues their series elsewhere") {
    const test::TemporaryFolder folder;
    const std::filesystem::path here = folder / "here", there = folder / "there", json = folder / "bench.json";
    CLI::App app;
    cli::Context context;
    cli::add_bench(app, context);
    app.parse("bench run --backend cuda -k 'gather_rows/16/*' --threads 1 --min-time 0.0001 --repetitions 2 --root " +
              here.string() + " --json-file " + json.string());
    REQUIRE(context.exit_code == kExitOk);
    const auto rows = results_db::Reader(here / "results.db").benches();
    std::set<std::string> series;
    for (const results_db::BenchRow& row : rows) {
        series.insert(row.impl + " " + row.params_json);
        CHECK(row.kernel == "gather_rows");
        CHECK(row.verified);
        CHECK(row.seconds.size() == 2);
    }
    CHECK(rows.size() == 6);
    CHECK(series.size() == 6);
    CHECK(series.count(R"(cuda-bf16 {"caches":"rotating","case":"16/128/64/128/indexed"})") == 1);

    CHECK(sweeps::import_bench(json, there, {}).series == 6);
    std::set<std::string> imported;
    for (const results_db::BenchRow& row : results_db::Reader(there / "results.db").benches())
        imported.insert(row.impl + " " + row.params_json);
    CHECK(imported == series);
}

}  // namespace
}  // namespace deft::kernels
