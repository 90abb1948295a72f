// The clock of benchmarks on a device, and the work between its events.

#include "kernels/bench/cuda/device_timer.h"
#include "kernels/bench/op_benches.h"
#include "kernels/bench/run_benchmarks.h"
#include "kernels/cases/case_table.h"
#include "kernels/cases/norm.h"
#include "kernels/cuda/emulator/emulator.h"
#include "tests/catch.h"

namespace deft::kernels {
namespace {

constexpr double kLaunch = 1e-5;

// A device on which every launch takes 10 us, and nothing else takes time.
class LaunchClock {
 public:
    LaunchClock() {
        cuda::emulator::forget_kernels();
        cuda::emulator::set_clock([] {
            std::int64_t launches = 0;
            for (const auto& [kernel, record] : cuda::emulator::kernels_run()) launches += record.launches;
            return 1000 + kLaunch * static_cast<double>(launches);
        });
    }
    ~LaunchClock() { cuda::emulator::set_clock({}); }
};

std::vector<BenchCase> gather_benches() {
    const auto table = std::make_shared<cases::CaseTable>(cases::Sizes::odd);
    table->add([](cases::Draw draw) { return cases::gather_rows_case(draw, {2, 9, 4, 16}); });
    return op_benches(table, 3, BenchBackends::cuda);
}

TEST_CASE(
    "rows of a device have its clock's times: of the case's launches alone, neither of the flush nor of the host") {
    const LaunchClock clock;
    const auto results = run_benchmarks(gather_benches(), {1, 1e-4, 4}, {{1, 1}, {1, 1, 1, 1}, std::nullopt}, {},
                                        nullptr, [](const BenchResult&) {});
    REQUIRE(results.size() == 6);
    for (const BenchResult& row : results) {
        INFO(row.backend << " " << to_string(row.state));
        REQUIRE(row.seconds.size() == 4);
        for (const double seconds : row.seconds) CHECK(seconds == Approx(kLaunch).epsilon(1e-6));
    }
}

TEST_CASE("an interval lasts 200 us at least, but for a cold run, which is alone after its flush") {
    const LaunchClock clock;
    const PreparedBench bench = gather_benches().front().prepare(1);
    REQUIRE(bench.wrong == "");
    for (const CacheState state : {CacheState::hot, CacheState::rotating}) {
        const DeviceInterval interval = bench.on_device(state);
        CHECK(interval.runs == 32);  // 16 take 160 us
        CHECK(interval.seconds == Approx(32 * kLaunch));
    }
    CHECK(bench.on_device(CacheState::cold).runs == 1);
    const auto launches = [] { return cuda::emulator::kernels_run(); };
    const auto before = launches();
    CHECK(bench.on_device(CacheState::cold).seconds == Approx(kLaunch));
    const auto after = launches();
    CHECK(after.at("sum_all_words").launches == before.at("sum_all_words").launches + 1);
    CHECK(after.at("take_rows").launches == before.at("take_rows").launches + 1);
}

TEST_CASE("hot runs follow one that is not timed") {
    const LaunchClock clock;
    cuda::DeviceTimer timer;
    int runs = 0;
    const auto run = [&] { ++runs; };
    timer.in_a_row(run, 5, true);
    CHECK(runs == 6);
    timer.in_a_row(run, 5, false);
    CHECK(runs == 11);
    timer.cold(run);
    CHECK(runs == 12);
}

}  // namespace
}  // namespace deft::kernels
