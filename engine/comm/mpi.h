#pragma once
// Ranks that mpirun started: mpi.cpp where the build has MPI, no_mpi.cpp where it has not.

#include <cstdlib>
#include <memory>

#include "engine/comm/transport.h"

namespace deft::engine::mpi {

bool is_there();
inline bool has_started_this() {
    return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
}
// All processes that it started with this one. Once in a process. Without MPI null where that is this one alone.
// Errors: missing, without MPI.
std::shared_ptr<Transport> of_launcher();

}  // namespace deft::engine::mpi
