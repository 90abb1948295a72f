// Rank 1's attempt fails while the others wait for it: it says why in a journal of its own, and ends without them.

#include <cstdio>

#include "base/error.h"
#include "base/files.h"
#include "experiments/attempt.h"
#include "tests/temporary_folder.h"

int main() {
    using namespace deft;
    const test::TemporaryFolder folder;
    experiments::TrialSlot slot;
    slot.ranks = engine::Communicator::of_launcher();
    const int rank = slot.ranks.rank();
    const int code = experiments::run_attempt(folder.path(), slot, [&](journal::Writer&, journal::Ended&) {
        if (rank == 1) throw Error(ErrorKind::io, "this rank has no room");
        slot.ranks.barrier();
        return true;
    });
    std::fprintf(stderr, "%s", read_file(experiments::journal_of_rank(folder.path(), rank)).c_str());
    return code;
}
