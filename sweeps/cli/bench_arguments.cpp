#include "sweeps/cli/bench_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/median.h"
#include "kernels/bench/op_benches.h"

namespace deft::cli {

std::vector<kernels::BenchCase> chosen_benches(const std::vector<std::string>& patterns) {
    constexpr std::uint64_t kSeed = 1;  // of the inputs: two builds compare the same ones
    std::vector<kernels::BenchCase> benches = kernels::op_benches(kSeed);
    if (patterns.empty()) return benches;
    std::erase_if(benches, [&](const kernels::BenchCase& bench) {
        return std::none_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
            return fnmatch(pattern.c_str(), bench.name.c_str(), 0) == 0;
        });
    });
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
