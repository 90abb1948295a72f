// A build without MPI refuses a process that a launcher with MPI started with others.

#include <fmt/format.h>

#include "base/error.h"
#include "engine/comm/mpi.h"

namespace deft::engine::mpi {

bool is_there() {
    return false;
}

std::shared_ptr<Transport> of_launch(const Launch& launch) {
    if (launch.is_alone()) return {};
    throw Error(ErrorKind::missing,
                launch.processes.empty()
                    ? "a launcher started processes of a build without MPI"
                    : fmt::format("a launcher started {} processes of a build without MPI", launch.processes),
                "install MPI (Debian: libopenmpi-dev, openmpi-bin) and build again", "nothing was started");
}

}  // namespace deft::engine::mpi
