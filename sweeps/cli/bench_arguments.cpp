#include "sweeps/cli/bench_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"
#include "base/median.h"
#include "engine/core/backend.h"
#include "sweeps/gate/bench_cases.h"
#include "sweeps/gate/case_patterns.h"

namespace deft::cli {

kernels::BenchBackends chosen_backends(const std::string& word) {
    using kernels::BenchBackends;
    if (word == "cpu") return BenchBackends::cpu;
    const std::string problem = engine::gpu_problem();
    if (word != "cuda") return problem.empty() ? BenchBackends::all : BenchBackends::cpu;
    if (problem.empty()) return BenchBackends::cuda;
    throw Error(ErrorKind::missing, "no GPU can be used: " + problem, "use --backend cpu, or see `deft doctor`");
}

std::vector<kernels::BenchCase> chosen_benches(const std::vector<std::string>& patterns,
                                               kernels::BenchBackends backends) {
    std::vector<kernels::BenchCase> benches = sweeps::bench_cases(backends);
    std::erase_if(benches, [&](const kernels::BenchCase& bench) { return !sweeps::matches(bench.name, patterns); });
    if (benches.empty())
        throw Error(ErrorKind::missing, fmt::format("no case matches {}", fmt::join(patterns, ", ")),
                    "see deft bench list");
    return benches;
}

Spread spread_of(std::vector<double> values) {
    if (values.empty()) return {};
    Spread spread{median(values), 0};
    for (double& value : values) value = std::abs(value - spread.median);
    spread.deviation = median(values);
    return spread;
}

}  // namespace deft::cli
