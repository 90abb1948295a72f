#include "engine/comm/require_same.h"

#include <fmt/format.h>

#include <span>

#include "base/error.h"

namespace deft::engine {

namespace {

std::string text_of(const Communicator& ranks, int rank, std::string text) {
    auto size = static_cast<std::int64_t>(text.size());
    ranks.broadcast(std::as_writable_bytes(std::span(&size, 1)), rank);
    text.resize(static_cast<std::size_t>(size));
    ranks.broadcast(std::as_writable_bytes(std::span(text)), rank);
    return text;
}

}  // namespace

void require_same(const Communicator& ranks, const std::string& what, const std::string& text, const std::string& fix) {
    if (ranks.size() == 1) return;
    const std::string of_first = text_of(ranks, 0, text);
    std::string others;
    for (int rank = 1; rank < ranks.size(); ++rank) {
        const std::string other = text_of(ranks, rank, text);
        if (other != of_first) others += fmt::format(", on rank {} it is {}", rank, other);
    }
    if (!others.empty())
        throw Error(ErrorKind::config, fmt::format("{} is not the same on all ranks: on rank 0 it is {}{}", what, of_first, others),
                    fix, "nothing was trained");
}

}  // namespace deft::engine
