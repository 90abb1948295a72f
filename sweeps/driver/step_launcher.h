#pragma once
// Attempts as steps of the Slurm job that this process is in: srun starts each on a node of the job with free cores.

#include "sweeps/driver/launcher.h"
#include "sweeps/driver/slurm_allocation.h"

namespace deft::sweeps {

std::unique_ptr<Launcher> make_step_launcher(SlurmAllocation allocation);

// The command of srun for the attempt: one task with its cores, its share of a node's memory and its GPUs, or a task
// for each rank on several nodes. The cores of a node are at most those of the largest.
std::vector<std::string> step_argv(const LaunchRequest& request, const SlurmAllocation& allocation);

// srun's exit code as the trial's wait status: 128 and a signal's number where that signal ended the trial. Higher
// codes are srun's own.
int step_wait_status(int wait_status);

}  // namespace deft::sweeps
