#include "sweeps/driver/mpirun.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/process.h"
#include "engine/comm/communicator.h"

namespace deft::sweeps {

namespace {

void allow_root(std::vector<std::string>& variables) {
    if (::geteuid() == 0)
        variables.insert(variables.end(), {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
}

// A user's choice stays.
void set_unless_chosen(std::vector<std::string>& variables, const std::string& name, const std::string& value) {
    if (std::getenv(name.c_str()) == nullptr) variables.push_back(name + "=" + value);
}

// A batch system's allocation would place ranks on its other nodes.
void ignore_allocations(std::vector<std::string>& variables) {
    set_unless_chosen(variables, "OMPI_MCA_ras", "^slurm,tm,lsf,gridengine");
}

}  // namespace

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
    ignore_allocations(variables);
    // No rank is elsewhere, so no agent is called, and none need be installed.
    set_unless_chosen(variables, "OMPI_MCA_plm_rsh_agent", "false");
    allow_root(variables);
    return variables;
}

std::vector<std::string> mpirun_on_hosts_argv(int ranks, int ranks_on_each, const std::filesystem::path& hostfile,
                                              const std::vector<std::string>& exported,
                                              const std::vector<std::string>& program) {
    std::vector<std::string> argv = {
        "mpirun",    "--hostfile", hostfile.string(), "--map-by", "ppr:" + std::to_string(ranks_on_each) + ":node",
        "--bind-to", "none"};
    for (const std::string& name : exported) argv.insert(argv.end(), {"-x", name});
    argv.insert(argv.end(), {"-n", std::to_string(ranks)});
    argv.insert(argv.end(), program.begin(), program.end());
    return argv;
}

std::vector<std::string> mpirun_on_hosts_environment(const std::string& agent) {
    // The agent reaches the hosts also inside a job of Slurm, whose steps would need an allocation of them.
    std::vector<std::string> variables = {"OMPI_MCA_mpi_yield_when_idle=1", "OMPI_MCA_plm=rsh",
                                          "OMPI_MCA_plm_rsh_agent=" + agent};
    ignore_allocations(variables);
    // Open MPI's own times give a silent connection up after eight minutes; these after 10 + 3 * 5 seconds.
    set_unless_chosen(variables, "OMPI_MCA_oob_tcp_keepalive_time", "10");
    set_unless_chosen(variables, "OMPI_MCA_oob_tcp_keepalive_intvl", "5");
    set_unless_chosen(variables, "OMPI_MCA_oob_tcp_keepalive_probes", "3");
    allow_root(variables);
    return variables;
}

std::vector<std::string> variables_of_ranks() {
    constexpr std::array<std::string_view, 5> kPrefixes = {"DEFT_", "OMP_", "NCCL_", "UCX_", "LD_LIBRARY_PATH="};
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return text.starts_with(prefix); }))
            names.emplace_back(text.substr(0, text.find('=')));
    }
    std::ranges::sort(names);
    return names;
}

void require_mpirun() {
    constexpr const char* kInstall =
        "install MPI and build with it: ./deft --mpi (Debian: libopenmpi-dev, openmpi-bin)";
    if (!engine::Communicator::has_mpi())
        throw Error(ErrorKind::missing, "several ranks need MPI, and this deft was built without it", kInstall,
                    "nothing was started");
    bool is_there = false;
    try {
        is_there = run_process({"mpirun", "--version"}).exit_code == 0;
    } catch (const Error&) {
    }
    if (!is_there)
        throw Error(ErrorKind::missing, "several ranks are started by mpirun, which is not on PATH", kInstall,
                    "nothing was started");
}

}  // namespace deft::sweeps
