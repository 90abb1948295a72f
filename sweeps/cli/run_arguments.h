#pragma once
// The arguments of `deft run`, and their reconstruction from the results of a sweep.

#include <string>

#include "reporting/analysis/results/results.h"
#include "sweeps/cli/options.h"

namespace deft::cli {

// Every kind of stale result is repeated.
inline constexpr const char* kRerunAll = "code,data,eval";

struct RunArguments {
    SpecArguments spec;
    std::string root = sweeps::kDefaultRoot;
    std::string slots;
    std::string launcher = "auto", slurm;
    std::string hostfile, agent;
    int threads = 0, ranks = 0, ranks_per_node = 0;
    std::string progress = "auto";
    bool mps = false;  // CUDA's multi-process service, started where none runs
    bool dry_run = false;
    bool fail_fast = false;
    bool retrain = false;
    std::string rerun_if = kRerunAll;

    void add_to(CLI::App& command, bool file_is_required);
    // The command that goes on with the same.
    std::string continue_with() const;
    // The options that give a trial its shape: "--slots cpu:1 --ranks 2"; empty where the sweep's file decides all of
    // it.
    std::string shape_options() const;
};

// From the command that the results keep of a sweep. Errors: missing, where they keep none.
RunArguments stored_run(const results_db::SweepHead& sweep);

// The sweep of the results by its file, with the learning rates that a search found. Refuses a file that is gone, or
// that says something else than when it was run, with what differs. Errors: missing.
sweeps::Spec unchanged_spec(const RunArguments& stored, const reporting::Results& sweep);

}  // namespace deft::cli
