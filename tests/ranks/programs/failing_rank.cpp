// Rank 1 fails while the others wait for it.

#include <cstdio>

#include "base/error.h"
#include "engine/comm/communicator.h"

int main() {
    try {
        const auto ranks = deft::engine::Communicator::of_launcher();
        if (ranks.rank() == 1) throw deft::Error(deft::ErrorKind::data, "this rank has nothing to give");
        ranks.barrier();
    } catch (const deft::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
