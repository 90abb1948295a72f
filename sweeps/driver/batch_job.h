#pragma once
// A job of a batch system: attempts that `deft job JOB_FOLDER` runs one after the other on the job's machine. The
// folder has job.json, which asks for them, job.jsonl, which says how each ended, and the job's own log.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sweeps/driver/signals.h"

namespace deft::sweeps {

struct BatchJob {
    std::string program;                      // absolute
    std::vector<std::filesystem::path> runs;  // absolute run folders, in their order
    std::vector<std::string> environment;     // of each attempt, "NAME=value"
    double grace_seconds = 0;                 // that each may take to save a checkpoint
};

void write_batch_job(const std::filesystem::path& folder, const BatchJob& job);
// Errors: io, config.
BatchJob read_batch_job(const std::filesystem::path& folder);

// Runs the attempts. At SIGTERM it asks the running one to stop, starts no other, and kills it after the grace.
void run_batch_job(const std::filesystem::path& folder, const SignalWatch& signals);

// wait_status of each attempt that ended in the job, by the name of its run folder; -1 where the job ended before it
// began. A line that is torn or foreign is passed over.
std::map<std::string, int> read_run_ends(const std::filesystem::path& job_folder);

}  // namespace deft::sweeps
