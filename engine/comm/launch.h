#pragma once
// The launcher that started this process with others, by the variables that it set.

#include <string>

namespace deft::engine {

enum class Launcher { none, mpirun, pmix, torchrun, srun };

struct Launch {
    Launcher by = Launcher::none;
    std::string processes = "1";  // as the launcher wrote it; empty where it does not say

    // MPI finds the other processes of these launchers.
    bool has_mpi() const { return by == Launcher::mpirun || by == Launcher::pmix; }
    bool is_alone() const { return processes == "1"; }
};

// mpirun goes before others, since it may run within Slurm. A process that srun or torchrun started alone has no
// launcher.
Launch launch_of_this_process();

// Errors: config, where a launcher without MPI started several processes: each would train alone.
void require_mpi_between(const Launch& launch);

// For `command`, which starts ranks itself. Errors: usage, where any launcher started several processes.
void require_alone(const Launch& launch, const std::string& command);

}  // namespace deft::engine
