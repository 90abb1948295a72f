// Rank 2 is killed while rank 1 waits for it, and all others for rank 1.

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "base/error.h"
#include "engine/comm/communicator.h"

int main() {
    const auto ranks = deft::engine::Communicator::of_launcher();
    std::vector<std::byte> values(4);
    try {
        ranks.barrier();
        if (ranks.rank() == 2) ::raise(SIGKILL);
        ranks.receive(values, ranks.rank() == 1 ? 2 : 1);
    } catch (const deft::Error& error) {
        std::fprintf(stderr, "[%d: %s]\n", ranks.rank(), error.what());
    }
}
