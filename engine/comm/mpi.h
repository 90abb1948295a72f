#pragma once
// Ranks of a launcher with MPI: mpi.cpp where the build has MPI, no_mpi.cpp where it has not.

#include <memory>

#include "engine/comm/launch.h"
#include "engine/comm/transport.h"

namespace deft::engine::mpi {

bool is_there();
// All processes that it started with this one. Once in a process. Without MPI null where that is this one alone.
// Errors: missing, without MPI; config, where MPI finds another number of processes than were started.
std::shared_ptr<Transport> of_launch(const Launch& launch);

}  // namespace deft::engine::mpi
