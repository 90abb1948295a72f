#pragma once
// The op cases (kernels/cases/) as benchmarks, at the sizes of models.

#include <cstdint>
#include <vector>

#include "kernels/bench/bench_case.h"

namespace deft::kernels {

// Cold runs go through copies of the arguments that together are three times as large as the last-level cache.
std::vector<BenchCase> op_benches(std::uint64_t seed);

}  // namespace deft::kernels
