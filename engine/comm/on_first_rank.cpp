#include "engine/comm/on_first_rank.h"

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include "base/error.h"

namespace deft::engine {

namespace {

struct Failure {
    ErrorKind kind;
    std::string what;
};

std::optional<Failure> failure_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return Failure{error.kind(), error.what()};
    } catch (const std::bad_alloc&) {
        return Failure{ErrorKind::memory, "out of memory"};
    } catch (const std::exception& error) {
        return Failure{ErrorKind::io, error.what()};
    }
    return {};
}

}  // namespace

void on_first_rank(const Communicator& ranks, const std::function<void()>& work) {
    if (ranks.size() == 1) return work();
    std::optional<Failure> failure;
    if (ranks.rank() == 0) failure = failure_of(work);
    constexpr std::int64_t kDone = -1;
    std::int64_t kind = failure ? static_cast<std::int64_t>(failure->kind) : kDone;
    ranks.broadcast(std::as_writable_bytes(std::span(&kind, 1)), 0);
    if (kind == kDone) return;
    throw Error(static_cast<ErrorKind>(kind), text_of_rank(ranks, 0, failure ? failure->what : ""));
}

bool decided_by_first(const Communicator& ranks, bool answer) {
    ranks.broadcast(std::as_writable_bytes(std::span(&answer, 1)), 0);
    return answer;
}

}  // namespace deft::engine
