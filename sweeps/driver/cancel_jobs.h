#pragma once
// The end of a sweep's Slurm jobs from outside its driver.

#include <filesystem>
#include <string>
#include <vector>

#include "results_db/live_attempts.h"

namespace deft::sweeps {

struct CancelledJobs {
    std::size_t attempts = 0;
    std::vector<std::string> names;  // of their jobs
    std::string problem;             // why Slurm was not asked, in its words; empty: it was
};

// Writes the stop file of each queued attempt, which makes a running one save a checkpoint and end, and removes their
// jobs from the queue where they wait. The jobs that still run are cancelled as well where `at_once`. Errors: io.
CancelledJobs cancel_jobs(const std::vector<results_db::LiveAttempt>& live, const std::filesystem::path& root,
                          bool at_once);

}  // namespace deft::sweeps
