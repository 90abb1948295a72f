#pragma once

#include <vector>

#include "kernels/bench/op_benches.h"

namespace deft::sweeps {

// An invented sweep of a thousand finished trials: its first screen and its page, each from the database, and what
// `deft run` does before them.
std::vector<kernels::BenchCase> report_benches();

}  // namespace deft::sweeps
