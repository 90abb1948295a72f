#include "sweeps/driver/step_variables.h"

namespace deft::sweeps {

namespace {

// Slurm 21 to 25. Options of the user, as SLURM_WAIT or SLURM_MPI_TYPE, are none of them.
constexpr const char* kLayout[] = {"SLURM_NTASKS",
                                   "SLURM_NPROCS",
                                   "SLURM_NTASKS_PER_NODE",
                                   "SLURM_NTASKS_PER_CORE",
                                   "SLURM_NTASKS_PER_GPU",
                                   "SLURM_NTASKS_PER_TRES",
                                   "SLURM_NTASKS_PER_SOCKET",
                                   "SLURM_CPUS_PER_TASK",
                                   "SRUN_CPUS_PER_TASK",
                                   "SLURM_CPUS_PER_GPU",
                                   "SLURM_CORE_SPEC",
                                   "SLURM_THREAD_SPEC",
                                   "SLURM_THREADS",
                                   "SLURM_THREADS_PER_CORE",
                                   "SLURM_NCORES_PER_SOCKET",
                                   "SLURM_NSOCKETS_PER_NODE",
                                   "SLURM_HINT",
                                   "SLURM_DISTRIBUTION",
                                   "SLURM_DIST_PLANESIZE",
                                   "SLURM_HOSTFILE",
                                   "SLURM_EXCLUSIVE",
                                   "SLURM_OVERCOMMIT",

                                   "SLURM_SPREAD_JOB",
                                   "SLURM_USE_MIN_NODES",

                                   "SLURM_MEM_PER_NODE",
                                   "SLURM_MEM_PER_CPU",
                                   "SLURM_MEM_PER_GPU",
                                   "SLURM_GRES",
                                   "SLURM_STEP_GRES",
                                   "SLURM_GRES_FLAGS",
                                   "SLURM_GPUS",
                                   "SLURM_GPUS_PER_NODE",
                                   "SLURM_GPUS_PER_TASK",
                                   "SLURM_GPUS_PER_SOCKET",
                                   "SLURM_GPU_BIND",
                                   "SLURM_TRES_PER_TASK",
                                   "SLURM_TRES_BIND"};

}  // namespace

std::vector<std::string> layout_variables(const slurm::Variables& variables) {
    std::vector<std::string> names;
    for (const char* name : kLayout)
        if (variables(name) != nullptr) names.emplace_back(name);
    return names;
}

}  // namespace deft::sweeps
