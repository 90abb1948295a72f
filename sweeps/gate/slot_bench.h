#pragma once
// Trials side by side on one thread each, or one trial on all threads: which trains more in the same time? In processes
// of their own, as the scheduler's slots are.

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "base/process.h"
#include "engine/bench/step.h"

namespace deft::sweeps {

// Quickstart's model and growing ones, up to the largest of the standard benches.
std::vector<engine::StepBench> slot_benches();

// Processes that train the same model at once; frozen but while they run.
class Team {
 public:
    // `which`: a place in slot_benches(). Errors: io, for a process that cannot be started or ends.
    Team(const std::filesystem::path& program, std::size_t which, int processes, int threads);

    // Every process trains so many steps, all at the same time. Seconds of one step, all processes' steps taken
    // together: one over the sum of their rates. Errors: io.
    double run(long steps);

 private:
    double read_seconds(PipedProcess& process);
    void freeze();

    std::vector<std::unique_ptr<PipedProcess>> processes_;
};

// A process of a team: says {"ready": true}, then answers each line N with {"seconds": of N steps}.
void serve_steps(std::istream& requests, std::ostream& answers, const engine::StepBench& bench, int threads);

}  // namespace deft::sweeps
