#pragma once
// The choice of where a sweep's attempts run.

#include <memory>
#include <optional>
#include <string>

#include "base/slurm.h"
#include "sweeps/driver/launcher.h"
#include "sweeps/driver/slurm_allocation.h"
#include "sweeps/spec/slurm_settings.h"

namespace deft::sweeps {

inline constexpr const char* kLauncherHelp =
    "Where attempts run: local, steps (srun on the nodes of this Slurm job), slurm (a job each, by sbatch), or auto: "
    "steps in a job of several nodes, else local";
inline constexpr const char* kSlurmHelp =
    "Jobs of --launcher slurm, as in partition=gpu,time=04:00:00, over the sweep's [resources.slurm]";

struct LauncherChoice {
    std::optional<SlurmAllocation> steps_of = {};  // nothing: attempts run on this machine
    std::string slurm_version = {};                // where Slurm starts them
    std::optional<SlurmSettings> jobs = {};        // nothing: attempts are no jobs of their own
};

// `text`: the value of --launcher; `settings`: of jobs. Inside a step of its own, this process has that step's share
// alone, which is local. Errors: usage, for another word; missing, where steps are asked for outside a Slurm job, or
// Slurm's command is not on PATH.
LauncherChoice choose_launcher(const std::string& text, const SlurmSettings& settings = {},
                               const slurm::Variables& variables = slurm::own_variable);

std::unique_ptr<Launcher> make_launcher(const LauncherChoice& choice);

// "as steps of Slurm on 2 nodes", "as Slurm jobs"; empty on this machine.
std::string describe_launcher(const LauncherChoice& choice);

}  // namespace deft::sweeps
