#pragma once
// The process of a batch system's job, which runs the attempts of the job's folder. At most as many run side by side as
// the job was made for.

#include <filesystem>

#include "sweeps/driver/batch_job.h"
#include "sweeps/driver/signals.h"

namespace deft::sweeps {

// At SIGTERM it asks the running attempts to stop, starts no other, and kills them after the grace.
// Errors: io, config, where the folder has no job, or Slurm does not state the nodes of one on several.
void run_batch_job(const std::filesystem::path& folder, const SignalWatch& signals);

}  // namespace deft::sweeps
