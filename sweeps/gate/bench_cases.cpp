#include "sweeps/gate/bench_cases.h"

#include <algorithm>
#include <iterator>

#include "engine/bench/cases.h"

namespace deft::sweeps {

namespace {

constexpr std::uint64_t kSeed = 1;  // of the inputs

}  // namespace

std::vector<kernels::BenchCase> bench_cases(kernels::BenchBackends backends) {
    std::vector<kernels::BenchCase> cases = kernels::op_benches(kSeed, backends);
    if (backends != kernels::BenchBackends::cuda)
        std::ranges::move(engine::engine_benches(kSeed), std::back_inserter(cases));
    return cases;
}

std::optional<kernels::BenchCase> find_bench_case(const std::string& name, std::size_t place) {
    for (kernels::BenchCase& bench : engine::engine_benches(kSeed))
        if (bench.name == name) return std::move(bench);
    return kernels::find_op_bench(name, place, kSeed);
}

}  // namespace deft::sweeps
