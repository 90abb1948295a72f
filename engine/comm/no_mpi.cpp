// A build without MPI refuses a process that mpirun started with others.

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "engine/comm/mpi.h"

namespace deft::engine::mpi {

bool is_there() {
    return false;
}

std::shared_ptr<Transport> of_launcher() {
    const std::string size = std::getenv("OMPI_COMM_WORLD_SIZE");
    if (size != "1")
        throw Error(ErrorKind::missing, "mpirun started " + size + " processes of a build without MPI",
                    "install MPI (Debian: libopenmpi-dev) and build again, or start ranks by torchrun or srun",
                    "nothing was started");
    return {};
}

}  // namespace deft::engine::mpi
