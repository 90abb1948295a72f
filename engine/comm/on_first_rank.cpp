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
    std::int64_t told[3] = {failure ? 1 : 0, failure ? static_cast<std::int64_t>(failure->kind) : 0,
                            failure ? static_cast<std::int64_t>(failure->what.size()) : 0};
    ranks.broadcast(std::as_writable_bytes(std::span(told)), 0);
    if (told[0] == 0) return;
    std::string what = failure ? failure->what : std::string(static_cast<std::size_t>(told[2]), '\0');
    ranks.broadcast(std::as_writable_bytes(std::span(what)), 0);
    throw Error(static_cast<ErrorKind>(told[1]), what);
}

bool decided_by_first(const Communicator& ranks, bool answer) {
    ranks.broadcast(std::as_writable_bytes(std::span(&answer, 1)), 0);
    return answer;
}

}  // namespace deft::engine
