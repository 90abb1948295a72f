// Of a build without MPI: a process is alone, and told where a launcher wants it not to be.

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "engine/comm/mpi.h"

namespace deft::engine::mpi {

struct Group {};

namespace {

[[noreturn]] void never() {
    throw std::logic_error("a group of ranks in a build without MPI");
}

}  // namespace

bool is_there() {
    return false;
}

std::shared_ptr<Group> of_launcher() {
    const char* const size = std::getenv("OMPI_COMM_WORLD_SIZE");
    if (size != nullptr && std::string(size) != "1")
        throw Error(ErrorKind::missing, std::string("mpirun started ") + size + " processes of a build without MPI",
                    "install MPI (Debian: libopenmpi-dev) and build again", "nothing was started");
    return {};
}

std::shared_ptr<Group> split(const std::shared_ptr<Group>&, int) { never(); }
int rank(const Group&) { never(); }
int size(const Group&) { never(); }
std::int64_t bytes_sent(const Group&) { never(); }
void exchange(Group&, std::span<const Piece<const std::byte>>, std::span<const Piece<std::byte>>) { never(); }
void broadcast(Group&, std::byte*, std::size_t, int) { never(); }
void send(Group&, const std::byte*, int, int) { never(); }
void receive(Group&, std::byte*, int, int) { never(); }
void barrier(Group&) { never(); }
void leave(Group&) { never(); }

}  // namespace deft::engine::mpi
