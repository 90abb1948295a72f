#pragma once
// The process of a batch system's job, which runs the attempts of the job's folder. At most as many run side by side as
// the job was made for.

#include <cstddef>
#include <filesystem>
#include <string>

#include "sweeps/driver/batch_job.h"
#include "sweeps/driver/signals.h"

namespace deft::sweeps {

// At SIGTERM it asks the running attempts to stop, starts no other, and kills them after the grace.
// Errors: io, config, where the folder has no job, or Slurm does not state the nodes of one on several.
void run_batch_job(const std::filesystem::path& folder, const SignalWatch& signals);

// The cards of one of several shares, from CUDA_VISIBLE_DEVICES of the job: share 1 of "0,1,2,3" with two cards a share
// has "2,3". Empty where the job has fewer.
std::string cards_of_share(const std::string& visible, std::size_t share, int gpus);

}  // namespace deft::sweeps
