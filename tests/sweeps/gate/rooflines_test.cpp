// Rooflines of constructed rows, of the CPU and of a GPU.

#include "sweeps/gate/rooflines.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::sweeps;
using kernels::BenchResult;
using kernels::CacheState;
using reporting::Bound;

namespace {

kernels::Peaks made_peaks() {
    kernels::Peaks peaks{{100, 200}, {10, 8, 9, 40}};
    peaks.device = kernels::CudaPeaks{"a GPU", 50, 800, 40, 30, 80, 64, 0, 0};
    return peaks;
}

BenchResult timed(const std::string& name, const std::string& backend, CacheState state,
                  const kernels::Ceilings& ceilings) {
    BenchResult row;
    row.name = name;
    row.backend = backend;
    row.state = state;
    row.flops = 100;
    row.bytes = 50;
    row.seconds = {3, 2, 100};
    row.ceilings = ceilings;
    return row;
}

}  // namespace

TEST_CASE("rows are one roofline for each backend and state, under the roofs that bound them") {
    std::vector<BenchResult> rows = {timed("a", kernels::kCpu, CacheState::hot, {200, 40, true}),
                                     timed("a", kernels::kCpu, CacheState::cold, {200, 10, false}),
                                     timed("b", kernels::kCpu, CacheState::hot, {200, 10, false}),
                                     timed("a", kernels::kCudaF32, CacheState::cold, {50, 40, false}),
                                     timed("a", kernels::kCudaBf16, CacheState::hot, {800, 80, true})};
    for (int i = 0; i < 3; ++i) rows.push_back(rows[0]);
    rows[5].seconds.clear();            // its output was wrong
    rows[6].flops = rows[6].bytes = 0;  // a tokenizer
    rows[7].seconds = {0};              // no clock is that short
    const std::vector<reporting::Roofline> all = bench_rooflines(rows, made_peaks());
    REQUIRE(all.size() == 4);
    CHECK(all[0].title == "cpu, hot");
    CHECK(all[1].title == "cpu, cold");
    CHECK(all[2].title == "cuda-f32, cold");
    CHECK(all[3].title == "cuda-bf16, hot");
    REQUIRE(all[0].points.size() == 2);
    const auto traffic = [&](std::size_t roofline, std::size_t point) {
        return all[roofline].roofs.at(all[roofline].points.at(point).traffic);
    };
    CHECK(all[0].points[0].seconds == 3);  // the median
    CHECK(traffic(0, 0).name == "L2");
    CHECK(traffic(0, 1).name == "memory");
    CHECK(traffic(1, 0).rate == 10);
    CHECK(traffic(3, 0).rate == 80);
    const auto compute = [&](std::size_t roofline) { return all[roofline].roofs.at(all[roofline].points[0].compute); };
    CHECK(compute(0).name == "AVX-512 FMA");
    CHECK(compute(0).rate == 200);
    CHECK(compute(2).name == "f32 product");
    CHECK(compute(2).rate == 50);
    CHECK(compute(3).name == "bf16 product");
    CHECK(reporting::bounding_roof(all[2], all[2].points[0]).bound == Bound::compute);  // 100 / 50 over 50 / 40
    CHECK(reporting::bounding_roof(all[1], all[1].points[0]).bound == Bound::memory);   // 50 / 10 over 100 / 200
    CHECK(bench_rooflines({}, made_peaks()).empty());
    CHECK(bench_rooflines(std::span(rows).subspan(3, 2), kernels::Peaks{{100, 200}, {10, 8, 9, 40}}).empty());
}

TEST_CASE("a processor without AVX-512 has one compute roof, and rates that nobody measured have none") {
    const std::vector<reporting::Roof> roofs = roofs_of(kernels::Peaks{{100, 0}, {10, 8, 9, 0}}, kernels::kCpu);
    REQUIRE(roofs.size() == 2);
    CHECK(roofs[0].name == "AVX2 FMA");
    CHECK(roofs[1].name == "memory");
    CHECK(roofs_of(kernels::Peaks{{100, 0}, {10, 8, 9, 0}}, kernels::kCudaF32).empty());
}

TEST_CASE("an op of a step that moves bytes faster than memory is under the cache's roof") {
    std::vector<engine::ProfiledOp> ops(3);
    for (engine::ProfiledOp& op : ops) {
        op.op = "add";
        op.shape = "16x8";
        op.calls = 12;
        op.flops = 100;
        op.bytes = 50;
        op.seconds = 5;  // 10 B/s: memory's rate
    }
    ops[1].seconds = 4;
    ops[2].seconds = 0;
    const reporting::Roofline roofline = profile_roofline(ops, "2 thread(s)", roofs_of(made_peaks(), kernels::kCpu));
    CHECK(roofline.title == "2 thread(s)");
    REQUIRE(roofline.points.size() == 2);
    CHECK(roofline.points[0].name == "forward add 16x8 (12 calls)");
    CHECK(bounding_roof(roofline, roofline.points[0]).name == "memory");
    CHECK(share_of_roof(roofline, roofline.points[0]) == Approx(1));
    CHECK(bounding_roof(roofline, roofline.points[1]).name == "L2");
    CHECK(share_of_roof(roofline, roofline.points[1]) == Approx(50.0 / 40 / 4));
    CHECK(profile_roofline(ops, "", {}).points.empty());
}
