#pragma once
// Benchmark cases chosen by patterns of their names, as in 'linear_*'.

#include <string>
#include <vector>

#include "reporting/trend/bench_series.h"

namespace deft::sweeps {

// Whether the name matches one of them as a file name does in a shell; without patterns every name is meant.
bool matches(const std::string& name, const std::vector<std::string>& patterns);

// Leaves the series of cases that match.
void keep_matching(std::vector<reporting::BenchSeries>& series, const std::vector<std::string>& patterns);

}  // namespace deft::sweeps
