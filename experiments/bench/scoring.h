#pragma once
// How much of the time of scoring a task's requests is the model's forward pass.

#include <vector>

#include "engine/bench/step.h"
#include "kernels/bench/bench_case.h"

namespace deft::experiments {

// Under each of these models, untrained: random requests of an eighth to all of its length, as many as so many batches
// hold. Of one choice each: its last one to eight tokens are scored. Of four choices: they share three quarters of
// their tokens, which are computed once, and the rest is scored. Each stands beside a forward pass of at least as many
// tokens in full batches without padding, of which the same share is scored.
std::vector<kernels::BenchCase> scoring_benches(const std::vector<engine::StepBench>& models, std::int64_t batches);

}  // namespace deft::experiments
