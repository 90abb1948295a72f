#pragma once
// Every benchmark case that the program has, of kernels and of what comes before a step: what deft bench lists, runs
// and compares.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/bench/op_benches.h"

namespace deft::sweeps {

// Two builds make the same inputs. What comes before a step is the CPU's.
std::vector<kernels::BenchCase> bench_cases(kernels::BenchBackends = kernels::BenchBackends::cpu);

// One of the CPU's, looked for from that place of the list on. Nothing where none has the name.
std::optional<kernels::BenchCase> find_bench_case(const std::string& name, std::size_t place);

}  // namespace deft::sweeps
