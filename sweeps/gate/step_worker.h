#pragma once
// Training steps (engine/bench/rank_steps.h) in processes of their own, which take one line at a time what to do next:
// one by itself, or the ranks of mpirun. In between they leave the cores to whatever they are compared with.

#include <iosfwd>
#include <memory>

#include "engine/bench/rank_steps.h"
#include "sweeps/gate/line_worker.h"

namespace deft::sweeps {

// The work of deft bench step-worker. Rank 0 first describes itself, then answers each line, with a JSON object a line;
// the others do as it does. Errors: those of RankSteps, which end all ranks.
void serve_steps(const engine::StepBench& bench, int threads, const engine::Communicator& ranks, std::istream& requests,
                 std::ostream& answers);

// Both say "first_loss" and "bytes", those that a rank sends in a step, and run "step" and "reduce", as RankSteps.
// threads: of each rank. Errors: io, where the processes end.
std::unique_ptr<LineWorker> start_steps(const engine::StepBench& bench, int threads);
// Errors: missing too, as require_mpirun().
std::unique_ptr<LineWorker> start_ranks(const engine::StepBench& bench, int ranks, int threads);

}  // namespace deft::sweeps
