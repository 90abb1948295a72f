#include "engine/comm/require_same.h"

#include <fmt/format.h>

#include "base/error.h"

namespace deft::engine {

void require_same(const Communicator& ranks, const std::string& what, const std::string& text, const std::string& fix) {
    if (ranks.size() == 1) return;
    const std::string of_first = text_of_rank(ranks, 0, text);
    std::string others;
    for (int rank = 1; rank < ranks.size(); ++rank) {
        const std::string other = text_of_rank(ranks, rank, text);
        if (other != of_first) others += fmt::format(", on rank {} it is {}", rank, other);
    }
    if (!others.empty())
        throw Error(ErrorKind::config,
                    fmt::format("{} is not the same on all ranks: on rank 0 it is {}{}", what, of_first, others), fix,
                    "nothing was started");
}

}  // namespace deft::engine
