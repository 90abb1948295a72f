#pragma once
// Attempts as Slurm jobs of their own, which sbatch submits from any machine of the cluster.

#include "sweeps/driver/launcher.h"
#include "sweeps/spec/slurm_settings.h"

namespace deft::sweeps {

// Seconds; tests use shorter ones.
struct SlurmPatience {
    double submit = 15;     // for sbatch to answer; meanwhile no job is looked at, and Slurm forgets ended ones
    double question = 5;    // for squeue, sacct and scancel to answer
    double between = 5;     // two looks at the queue
    double agreement = 60;  // for a journal and a job's file to arrive after the job has left the queue
    double lost = 600;      // until a job without a claim that nobody knows is lost
    double again = 30;      // between two submissions that the controller did not answer
};

// Errors: missing, where the settings name a file that is not there.
std::unique_ptr<Launcher> make_slurm_launcher(SlurmSettings settings, SlurmPatience patience = {});

}  // namespace deft::sweeps
