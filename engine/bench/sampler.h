#pragma once
// How fast samples are drawn under a curriculum, on one thread, and how soon the first one is.

#include <cstdint>
#include <vector>

#include "kernels/bench/bench_case.h"

namespace deft::engine {

// From an invented index under one metric and under two, each a percentile that grows by its root over half of the run.
// Cold: steps in random order. Its start is from the mapped index to the first draw; a note says what memory that took
// beside the index.
std::vector<kernels::BenchCase> sampler_benches(std::uint64_t seed);

}  // namespace deft::engine
