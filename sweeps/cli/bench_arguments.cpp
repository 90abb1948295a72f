#include "sweeps/cli/bench_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"
#include "base/median.h"
#include "sweeps/bench_cases.h"
#include "sweeps/case_patterns.h"

namespace deft::cli {

std::vector<kernels::BenchCase> chosen_benches(const std::vector<std::string>& patterns) {
    std::vector<kernels::BenchCase> benches = sweeps::bench_cases();
    std::erase_if(benches,
                  [&](const kernels::BenchCase& bench) { return !sweeps::matches(bench.name, patterns); });
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
