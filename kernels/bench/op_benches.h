#pragma once
// The op cases (kernels/cases/) as benchmarks, at the sizes of models.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/bench/bench_case.h"

namespace deft::kernels {

namespace cases {
class CaseTable;
}

enum class BenchBackends { cpu, cuda, all };

// Benchmarks of each case on the CPU, on CUDA in f32 and on CUDA in bf16, in this order; without CUDA in a build
// without it. Cold runs of the CPU and rotating ones of a device go through copies of the arguments that together are
// three times as large as the last-level cache.
std::vector<BenchCase> op_benches(std::uint64_t seed, BenchBackends = BenchBackends::cpu);
std::vector<BenchCase> op_benches(std::shared_ptr<const cases::CaseTable>, std::uint64_t seed, BenchBackends);

// One of the CPU's, looked for from that place on: to describe all of them takes seconds. Nothing where none has the
// name.
std::optional<BenchCase> find_op_bench(const std::string& name, std::size_t place, std::uint64_t seed);

}  // namespace deft::kernels
