#pragma once
// Training steps on several ranks (engine/bench/rank_steps.h), in processes of mpirun that take one line at a time
// what to do next. In between they leave the cores to whatever they are compared with.

#include <cstdint>
#include <iosfwd>
#include <string>

#include "base/json_fwd.h"
#include "base/process.h"
#include "engine/bench/rank_steps.h"

namespace deft::sweeps {

// The program that mpirun starts on each rank: deft bench rank-worker. Rank 0 first describes itself, then answers each
// line, with a JSON object a line; the others do as it does. Errors: those of RankSteps, which end all ranks.
void serve_rank_steps(const engine::StepBench& bench, int threads, std::istream& requests, std::ostream& answers);

class RankWorker {
 public:
    // threads: of each rank. Errors: missing, as require_mpirun(); io, where the ranks end.
    RankWorker(const engine::StepBench& bench, int ranks, int threads);
    ~RankWorker();
    RankWorker(const RankWorker&) = delete;
    RankWorker& operator=(const RankWorker&) = delete;

    double first_loss() const { return first_loss_; }
    std::int64_t bytes_of_step() const { return bytes_of_step_; }

    // As RankSteps'. Errors: io.
    double step(long steps) { return seconds_of("step", steps); }
    double reduce(long sums) { return seconds_of("reduce", sums); }

 private:
    double seconds_of(const char* work, long times);
    Json read_answer();

    PipedProcess process_;
    double first_loss_ = 0;
    std::int64_t bytes_of_step_ = 0;
};

}  // namespace deft::sweeps
