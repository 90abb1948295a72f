#include "sweeps/gate/rooflines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "base/median.h"
#include "base/text.h"

namespace deft::sweeps {

namespace {

using reporting::Bound;
using reporting::Roof;
using reporting::Roofline;

// The place of the first roof of that kind; the number of roofs where there is none.
std::size_t roof_of(const std::vector<Roof>& roofs, Bound bound) {
    const auto found = std::find_if(roofs.begin(), roofs.end(), [&](const Roof& roof) { return roof.bound == bound; });
    return static_cast<std::size_t>(found - roofs.begin());
}

bool has_compute_and_memory(const std::vector<Roof>& roofs) {
    return std::max(roof_of(roofs, Bound::compute), roof_of(roofs, Bound::memory)) < roofs.size();
}

Roofline& roofline_of(std::vector<Roofline>& all, const kernels::BenchResult& row, const kernels::Peaks& peaks) {
    const std::string title = fmt::format("{}, {}", row.backend, to_string(row.state));
    for (Roofline& one : all)
        if (one.title == title) return one;
    return all.emplace_back(Roofline{title, roofs_of(peaks, row.backend), {}});
}

}  // namespace

std::vector<Roof> roofs_of(const kernels::Peaks& peaks, const std::string& backend) {
    std::vector<Roof> roofs;
    if (backend == kernels::kCpu) {
        roofs = {{peaks.fma.widest_name() + " FMA", Bound::compute, peaks.fma.widest()},
                 {"AVX2 FMA", Bound::compute, peaks.fma.widest_name() == "AVX2" ? 0 : peaks.fma.avx2_flops},
                 {"memory", Bound::memory, peaks.memory.best()},
                 {"L2", Bound::cache, peaks.memory.cached_read}};
    } else if (peaks.device) {
        roofs = {{"f32 product", Bound::compute, peaks.device->f32_flops},
                 {"bf16 product", Bound::compute, peaks.device->bf16_flops},
                 {"memory", Bound::memory, peaks.device->best()},
                 {"L2", Bound::cache, peaks.device->cached_read}};
        if (backend == kernels::kCudaBf16) std::swap(roofs[0], roofs[1]);
    }
    std::erase_if(roofs, [](const Roof& roof) { return !(roof.rate > 0); });
    return roofs;
}

std::vector<Roofline> bench_rooflines(std::span<const kernels::BenchResult> results, const kernels::Peaks& peaks) {
    std::vector<Roofline> all;
    for (const kernels::BenchResult& row : results) {
        const double seconds = row.seconds.empty() ? 0 : median(row.seconds);
        if (!(seconds > 0) || !(row.flops > 0 || row.bytes > 0)) continue;
        Roofline& roofline = roofline_of(all, row, peaks);
        if (!has_compute_and_memory(roofline.roofs)) continue;
        roofline.points.push_back({row.name, row.flops, row.bytes, seconds, roof_of(roofline.roofs, Bound::compute),
                                   roof_of(roofline.roofs, row.ceilings.is_cached ? Bound::cache : Bound::memory)});
    }
    std::erase_if(all, [](const Roofline& roofline) { return roofline.points.empty(); });
    return all;
}

Roofline profile_roofline(std::span<const engine::ProfiledOp> ops, const std::string& title,
                          const std::vector<Roof>& roofs) {
    Roofline roofline{title, roofs, {}};
    if (!has_compute_and_memory(roofs)) return roofline;
    const std::size_t memory = roof_of(roofs, Bound::memory), cache = roof_of(roofs, Bound::cache);
    for (const engine::ProfiledOp& op : ops) {
        if (!(op.seconds > 0) || !(op.flops > 0 || op.bytes > 0)) continue;
        const bool is_cached = cache < roofs.size() && roofs[cache].rate > roofs[memory].rate &&
                               op.bytes / op.seconds > roofs[memory].rate;
        roofline.points.push_back(
            {fmt::format("{} {} {} ({})", engine::phase_name(op.phase), op.op, op.shape, counted(op.calls, "call")),
             op.flops, op.bytes, op.seconds, roof_of(roofs, Bound::compute), is_cached ? cache : memory});
    }
    return roofline;
}

}  // namespace deft::sweeps
