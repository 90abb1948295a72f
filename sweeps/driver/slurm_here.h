#pragma once
// Whether Slurm can start attempts here, as steps or as jobs, and why not.

#include <chrono>
#include <optional>
#include <string>

#include "base/slurm.h"
#include "sweeps/driver/slurm_allocation.h"

namespace deft::sweeps {

struct SlurmHere {
    std::optional<SlurmAllocation> allocation = {};  // of steps. Nothing: no job around, or one of unknown nodes
    std::string version = {};                        // "22.05.8"
    std::string problem = {};                        // "needs srun, which is not on PATH"; empty: it works
    std::string fix = {};                            // of the problem
};

// srun is called only inside a job. It reads Slurm's configuration, which may lie on a file system that does not
// answer, or come from a controller that is down.
SlurmHere steps_here(const slurm::Variables& variables = slurm::own_variable,
                     std::chrono::milliseconds patience = std::chrono::seconds(5));

// Asks sbatch for its version, under the same limit.
SlurmHere jobs_here(std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace deft::sweeps
