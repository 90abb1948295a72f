#pragma once
// Which benchmark cases are meant, and how the times of one spread.

#include <string>
#include <vector>

#include "kernels/bench/bench_case.h"

namespace deft::cli {

// All where no pattern is given. Errors: missing, for patterns that match nothing.
std::vector<kernels::BenchCase> chosen_benches(const std::vector<std::string>& patterns);

struct Spread {
    double median = 0, deviation = 0;  // median absolute deviation
};
Spread spread_of(std::vector<double> values);

}  // namespace deft::cli
