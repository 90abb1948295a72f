#pragma once
// Ranks that mpirun started: mpi.cpp where the build has MPI, no_mpi.cpp where it has not.

#include <memory>

#include "engine/comm/transport.h"

namespace deft::engine::mpi {

bool is_there();
// All processes that were started with this one; null where no launcher of MPI did. Once in a process. Errors: missing,
// without MPI.
std::shared_ptr<Transport> of_launcher();

}  // namespace deft::engine::mpi
