#pragma once
// Which benchmark cases and backends are meant, and how the times of one spread.

#include <string>
#include <vector>

#include "kernels/bench/op_benches.h"

namespace deft::cli {

// "cpu", "cuda", or "all" that this build and this machine have. Errors: missing, for cuda where it cannot be used.
kernels::BenchBackends chosen_backends(const std::string& word);

// All where no pattern is given. Errors: missing, for patterns that match nothing.
std::vector<kernels::BenchCase> chosen_benches(const std::vector<std::string>& patterns, kernels::BenchBackends);

struct Spread {
    double median = 0, deviation = 0;  // median absolute deviation
};
Spread spread_of(std::vector<double> values);

}  // namespace deft::cli
