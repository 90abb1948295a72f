#pragma once
// The command that starts a program on several ranks, of this machine or of several hosts.

#include <filesystem>
#include <string>
#include <vector>

namespace deft::sweeps {

// Open MPI's, on this machine also inside an allocation of several: cores are not counted, since slots do that, and
// threads are not bound, since a slot's may be several.
std::vector<std::string> mpirun_argv(int ranks, const std::vector<std::string>& program);

// Variables beside this process's own: root is allowed where this process is root's, and ranks that wait give their
// core away, since threads of others may want it.
std::vector<std::string> mpirun_environment();

// On the hosts of that file, as many ranks on each. Variables of these names reach the ranks, as those of Open MPI do.
std::vector<std::string> mpirun_on_hosts_argv(int ranks, int ranks_on_each, const std::filesystem::path& hostfile,
                                              const std::vector<std::string>& exported,
                                              const std::vector<std::string>& program);

// Variables beside this process's own for those hosts: the agent that reaches them (rank_hosts.h), and the keep-alive
// times of mpirun's connections.
std::vector<std::string> mpirun_on_hosts_environment(const std::string& agent);

// Names of this process's variables that ranks elsewhere need: settings of deft, threads and NCCL, and libraries.
std::vector<std::string> variables_of_ranks();

// Errors: missing, where this build has no MPI, or no mpirun is on PATH.
void require_mpirun();

}  // namespace deft::sweeps
