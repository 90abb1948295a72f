#pragma once

#include <vector>

#include "kernels/bench/op_benches.h"

namespace deft::sweeps {

// The HTML report of a database of many invented runs: read, and rendered.
std::vector<kernels::BenchCase> report_benches();

}  // namespace deft::sweeps
