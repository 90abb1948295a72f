#include "engine/comm/launch.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"
#include "base/slurm.h"

namespace deft::engine {

namespace {

constexpr const char* kNothingStarted = "nothing was started";

struct LauncherText {
    Launcher launcher;
    const char* name;
    const char* alone;  // the way to start one process
};
constexpr LauncherText kTexts[] = {
    {Launcher::none, "no launcher", ""},
    {Launcher::mpirun, "mpirun", "mpirun -n 1"},
    {Launcher::pmix, "a launcher with PMIx", "srun -n1"},
    {Launcher::torchrun, "torchrun", "no torchrun, or RANK and WORLD_SIZE unset"},
    {Launcher::srun, "srun", "srun -n1, or SLURM_STEP_NUM_TASKS unset"},
};

const LauncherText& text_of(Launcher launcher) {
    return kTexts[static_cast<std::size_t>(launcher)];
}

bool is_set(const char* name) {
    return std::getenv(name) != nullptr;
}

std::string text_in(const char* name) {
    return is_set(name) ? std::getenv(name) : "";
}

std::string count_text(const Launch& launch) {
    return launch.processes.empty() ? "this process, perhaps with others,"
                                    : fmt::format("{} processes of this program", launch.processes);
}

}  // namespace

Launch launch_of_this_process() {
    if (is_set("OMPI_COMM_WORLD_SIZE")) return {Launcher::mpirun, text_in("OMPI_COMM_WORLD_SIZE")};
    const std::string tasks = slurm::is_in_step() ? text_in("SLURM_STEP_NUM_TASKS") : "";
    const bool has_pmix = is_set("PMIX_RANK") && is_set("PMIX_NAMESPACE");
    if (has_pmix && tasks != "1") return {Launcher::pmix, tasks};
    // torchrun starts its processes in a step of one task on each node.
    if (is_set("RANK") && is_set("WORLD_SIZE") && text_in("WORLD_SIZE") != "1")
        return {Launcher::torchrun, text_in("WORLD_SIZE")};
    if (!tasks.empty() && tasks != "1") return {Launcher::srun, tasks};
    return {};
}

void require_mpi_between(const Launch& launch) {
    if (launch.has_mpi() || launch.is_alone()) return;
    throw Error(ErrorKind::config,
                fmt::format("{} started {} without MPI, so each would train alone", text_of(launch.by).name,
                            count_text(launch)),
                fmt::format("start ranks by mpirun -n {0} or srun --mpi=pmix -n {0}; for one process: {1}",
                            launch.processes.empty() ? "N" : launch.processes, text_of(launch.by).alone),
                kNothingStarted);
}

void require_alone(const Launch& launch, const std::string& command) {
    if (launch.is_alone()) return;
    throw Error(
        ErrorKind::usage,
        fmt::format("{} started {}, and each would be a {}", text_of(launch.by).name, count_text(launch), command),
        fmt::format("start one, which starts its trials' ranks (--ranks): {}", text_of(launch.by).alone),
        kNothingStarted);
}

}  // namespace deft::engine
