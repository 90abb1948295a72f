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
    std::string warning = {};                      // why auto leaves nodes of the job idle; may be empty
};

// `text`: the value of --launcher; `settings`: of jobs. Inside a step of its own, this process has that step's share
// alone, which is local. Errors: usage, for another word; missing, where Slurm cannot start attempts (slurm_here.h).
LauncherChoice choose_launcher(const std::string& text, const SlurmSettings& settings = {},
                               const slurm::Variables& variables = slurm::own_variable);

// Whether auto means steps: several nodes, outside a step of their job.
bool auto_means_steps(const std::optional<SlurmAllocation>& allocation, const slurm::Variables& variables);

std::unique_ptr<Launcher> make_launcher(const LauncherChoice& choice);

// "as steps of Slurm on 2 nodes", "as Slurm jobs"; empty on this machine.
std::string describe_launcher(const LauncherChoice& choice);

}  // namespace deft::sweeps
