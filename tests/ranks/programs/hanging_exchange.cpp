// Loaded into a rank before the MPI library: once the file $DEFT_HANG is there, the rank never comes to its next
// exchange. It computes for ever where the file says "computing", and else waits for ever. The file is gone then, so
// that the next try does not hang.

#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace {

void hang_once() {
    const char* const file = std::getenv("DEFT_HANG");
    std::string how;
    if (file == nullptr || !(std::ifstream(file) >> how)) return;
    ::unlink(file);
    for (volatile bool forever = true; forever;)
        if (how != "computing") ::pause();
}

}  // namespace

extern "C" int MPI_Isend(const void* values, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
    hang_once();
    return PMPI_Isend(values, count, type, to, tag, comm, request);
}
