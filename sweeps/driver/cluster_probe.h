#pragma once
// One Slurm job that tests the folder of results between this machine and a node: whether the node sees its files, and
// whether its file locks reach the node.

#include <filesystem>
#include <string>

#include "sweeps/spec/slurm_settings.h"

namespace deft::sweeps {

struct ProbeOptions {
    std::filesystem::path program = "/proc/self/exe";  // that the job starts
    double answer = 60;                                // seconds for the job to be submitted, to begin and to end
    double look = 0.2;
};

struct ClusterProbe {
    std::string host;          // where the job ran; empty: it gave no answer
    bool sees_files = false;   // the node read what this machine wrote
    bool sees_lock = false;    // the node could not take a lock that this machine has
    bool has_version = false;  // the node's program has this one's version
    std::string problem;       // why no answer came
    std::string fix;           // of the problem
};

// Submits the job, waits for its answer and removes its folder, <root>/jobs/probe-NONCE. A job that has not answered is
// cancelled. Errors: io.
ClusterProbe probe_cluster(const std::filesystem::path& root, const SlurmSettings& settings,
                           const ProbeOptions& options = {});

// Whether the job folder is that of a probe; the job's side of it.
bool is_probe(const std::filesystem::path& job_folder);
void answer_probe(const std::filesystem::path& job_folder);

}  // namespace deft::sweeps
