#pragma once
// How much of the time of scoring a task's requests is the model's forward pass.

#include <vector>

#include "engine/bench/step.h"
#include "kernels/bench/bench_case.h"

namespace deft::experiments {

// Benchmarks for each of these untrained models: random requests of an eighth to all of its length, enough to fill the
// number of batches. One choice each: its last one to eight tokens are scored. Four choices: they share three quarters
// of their tokens, which are computed once, and the rest is scored. Each is compared with a forward pass of at least as
// many tokens in full batches without padding, where the same share is scored.
std::vector<kernels::BenchCase> scoring_benches(const std::vector<engine::StepBench>& models, std::int64_t batches);

}  // namespace deft::experiments
