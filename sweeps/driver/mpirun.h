#pragma once
// The command that starts a program on several ranks of this machine.

#include <string>
#include <vector>

namespace deft::sweeps {

// Open MPI's, on this machine also inside an allocation of several: cores are not counted, since slots do that, and
// threads are not bound, since a slot's may be several.
std::vector<std::string> mpirun_argv(int ranks, const std::vector<std::string>& program);

// Variables beside this process's own: root is allowed where this process is root's, and ranks that wait give their
// core away, since threads of others may want it.
std::vector<std::string> mpirun_environment();

// Errors: missing, where this build has no MPI, or no mpirun is on PATH.
void require_mpirun();

}  // namespace deft::sweeps
