#pragma once
// Rooflines of what deft bench run and deft profile timed.

#include <span>
#include <string>
#include <vector>

#include "engine/bench/profile.h"
#include "kernels/bench/run_benchmarks.h"
#include "reporting/roofline.h"

namespace deft::sweeps {

// The measured rates for a backend, its own compute roof first. Empty for a device whose peaks were not measured.
std::vector<reporting::Roof> roofs_of(const kernels::Peaks& peaks, const std::string& backend);

// One for each backend and state of the caches, in the order of the rows. Rows without times, or whose FLOPs and bytes
// are both unknown, are left out.
std::vector<reporting::Roofline> bench_rooflines(std::span<const kernels::BenchResult> results,
                                                 const kernels::Peaks& peaks);

// The ops of a step. Memory bounds their bytes, or the cache where they moved faster than memory can.
reporting::Roofline profile_roofline(std::span<const engine::ProfiledOp> ops, const std::string& title,
                                     const std::vector<reporting::Roof>& roofs);

}  // namespace deft::sweeps
