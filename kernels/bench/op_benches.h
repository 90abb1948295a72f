#pragma once
// The op cases (kernels/cases/) as benchmarks, at the sizes of models.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/bench/bench_case.h"

namespace deft::kernels {

// Cold runs go through copies of the arguments that together are three times as large as the last-level cache.
std::vector<BenchCase> op_benches(std::uint64_t seed);

// One of them, looked for from that place on: to describe all of them takes seconds. Nothing where none has the name.
std::optional<BenchCase> find_op_bench(const std::string& name, std::size_t place, std::uint64_t seed);

}  // namespace deft::kernels
