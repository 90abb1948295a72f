#include "sweeps/driver/mpirun.h"

#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "base/process.h"
#include "engine/comm/communicator.h"

namespace deft::sweeps {

std::vector<std::string> mpirun_argv(int ranks, const std::vector<std::string>& program) {
    const std::string count = std::to_string(ranks);
    std::vector<std::string> argv = {"mpirun", "--host", "localhost:" + count, "--oversubscribe", "--bind-to", "none",
                                     "-n",     count};
    argv.insert(argv.end(), program.begin(), program.end());
    return argv;
}

std::vector<std::string> mpirun_environment() {
    std::vector<std::string> variables = {"OMPI_MCA_mpi_yield_when_idle=1"};
    // Ranks of one machine pass messages through its memory, and listen at no port of its network. A user's choice
    // stays.
    if (std::getenv("OMPI_MCA_pml") == nullptr && std::getenv("OMPI_MCA_btl") == nullptr)
        variables.insert(variables.end(), {"OMPI_MCA_pml=ob1", "OMPI_MCA_btl=^tcp,ofi,openib,uct,usnic"});
    // A batch system's allocation would place ranks on its other nodes. No rank is elsewhere, so no agent is called,
    // and none need be installed.
    if (std::getenv("OMPI_MCA_ras") == nullptr) variables.emplace_back("OMPI_MCA_ras=^slurm,tm,lsf,gridengine");
    if (std::getenv("OMPI_MCA_plm_rsh_agent") == nullptr) variables.emplace_back("OMPI_MCA_plm_rsh_agent=false");
    if (::geteuid() == 0)
        variables.insert(variables.end(), {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
    return variables;
}

void require_mpirun() {
    constexpr const char* kMend = "install MPI and build with it: ./deft --mpi (Debian: libopenmpi-dev, openmpi-bin)";
    if (!engine::Communicator::has_mpi())
        throw Error(ErrorKind::missing, "several ranks need MPI, and this deft was built without it", kMend,
                    "nothing was started");
    bool is_there = false;
    try {
        is_there = run_process({"mpirun", "--version"}).exit_code == 0;
    } catch (const Error&) {
    }
    if (!is_there)
        throw Error(ErrorKind::missing, "several ranks are started by mpirun, which is not on PATH", kMend,
                    "nothing was started");
}

}  // namespace deft::sweeps
