#pragma once
// Benchmark cases for the work before a step: encoding text, reading a corpus, measuring difficulty, ordering and
// drawing samples. Each is checked against another way to compute the same.

#include <cstdint>
#include <vector>

#include "kernels/bench/bench_case.h"

namespace deft::engine {

std::vector<kernels::BenchCase> engine_benches(std::uint64_t seed);

}  // namespace deft::engine
