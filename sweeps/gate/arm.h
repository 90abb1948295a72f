#pragma once
// The driver's end of one arm: a program file that understands `deft bench serve`.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "base/process.h"
#include "kernels/bench/run_benchmarks.h"
#include "results_db/rows.h"

namespace deft::sweeps {

// The worker ended, was silent for minutes, or said that it failed: the message says which.
class ArmCrashed : public Error {
 public:
    explicit ArmCrashed(const std::string& what) : Error(ErrorKind::io, what) {}
};

// A worker's result for a case.
struct PreparedArm {
    std::string wrong;     // what the outputs have wrong
    bool unknown = false;  // the program has no such case
    std::string backend;
    double flops = 0, bytes = 0;      // of one run
    std::optional<double> hot, cold;  // seconds of one run, roughly
};

class Arm {
 public:
    // Starts a worker that may use these processors only, and leaves it frozen until it is asked something.
    // Errors: io (cannot be started, no JSON where there should be), usage (it speaks no protocol, or another version).
    Arm(const std::filesystem::path& program, int threads, const std::vector<int>& processors);
    // Lets the worker end by itself, so that it leaves no files.
    ~Arm();

    // Each throws ArmCrashed, or io for an answer that makes no sense. The other arm is frozen meanwhile, so that
    // threads that wait by spinning take no processor from it.
    results_db::Code describe();
    std::vector<std::string> list();
    PreparedArm prepare(const std::string& name, std::size_t place);  // in list()
    double run(kernels::CacheState state, long runs);                 // seconds of one run, the mean over `runs`

 private:
    Json ask(const std::string& request);
    Json answer_to(const std::string& request);
    [[noreturn]] void refuse(const std::string& request, const std::string& line) const;

    std::string program_;
    PipedProcess process_;
};

// The processors that a team of that size is pinned to: the last ones of those that this process may use, since
// interrupts favour the first; empty where there are fewer.
std::vector<int> processors_for(int threads);

}  // namespace deft::sweeps
