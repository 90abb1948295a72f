#include "engine/comm/mesh.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "engine/comm/tcp.h"

namespace deft::engine {

namespace {

// The word of a watch that names no rank.
constexpr std::int32_t kGoodbye = -1;
constexpr std::size_t kHeaderBytes = sizeof(std::uint64_t);
constexpr int kBitsOfSize = 56;

std::uint64_t header_of(MessageKind kind, std::size_t bytes) {
    return static_cast<std::uint64_t>(kind) << kBitsOfSize | bytes;
}

bool is_not_ready(int error) {
    return error == EAGAIN || error == EWOULDBLOCK;
}

// The rest of header and payload after the first bytes of both.
struct Rest {
    std::array<iovec, 2> parts{};
    msghdr message{};

    Rest(const std::uint64_t& header, const void* payload, std::size_t bytes, std::size_t done) {
        const std::size_t of_header = std::min(done, kHeaderBytes), of_payload = done - of_header;
        auto* const first = reinterpret_cast<char*>(const_cast<std::uint64_t*>(&header));
        auto* const second = static_cast<char*>(const_cast<void*>(payload));
        if (of_header < kHeaderBytes) add(first + of_header, kHeaderBytes - of_header);
        if (of_payload < bytes) add(second + of_payload, bytes - of_payload);
        message.msg_iov = parts.data();
    }
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;

 private:
    void add(char* at, std::size_t bytes) { parts[message.msg_iovlen++] = {at, bytes}; }
};

}  // namespace

Mesh::Mesh(std::vector<Descriptor> watches) : watches_(watches.size()) {
    for (std::size_t r = 0; r < watches.size(); ++r) watches_[r].socket = std::move(watches[r]);
}

Mesh::~Mesh() {
    if (std::uncaught_exceptions() == 0) send_to_all(kGoodbye);
}

void Mesh::begin(Link& link, MessageKind kind, Outgoing payload) {
    link.leaving.push_back({header_of(kind, payload.bytes), payload, 0});
    push(link);
}

void Mesh::exchange(std::span<Arriving> awaited, std::span<Link* const> leaving) {
    for (;;) {
        for (Link* const link : links_) push(*link);
        bool is_done = true;
        for (Arriving& arriving : awaited) is_done = take(arriving) && is_done;
        for (const Link* const link : leaving) is_done = is_done && link->leaving.empty();
        if (is_done) return;
        sleep(awaited);
    }
}

void Mesh::leave() {
    for (Watch& watch : watches_) watch.socket.close();
    for (Link* const link : links_) link->socket.close();
}

void Mesh::push(Link& link) {
    while (!link.leaving.empty()) {
        Leaving& first = link.leaving.front();
        const Rest rest(first.header, first.payload.at, first.payload.bytes, first.sent);
        const ssize_t count = ::sendmsg(link.socket.number(), &rest.message, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && is_not_ready(errno)) return;
        if (count < 0) fail_of(link.rank, error_text(errno));
        first.sent += static_cast<std::size_t>(count);
        if (first.sent == kHeaderBytes + first.payload.bytes) link.leaving.pop_front();
    }
}

bool Mesh::take(Arriving& arriving) {
    while (arriving.taken < kHeaderBytes + arriving.payload.bytes) {
        Rest rest(arriving.header, arriving.payload.at, arriving.payload.bytes, arriving.taken);
        const ssize_t count = ::recvmsg(arriving.link->socket.number(), &rest.message, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && is_not_ready(errno)) return false;
        if (count <= 0) fail_of(arriving.link->rank, count < 0 ? error_text(errno) : "it closed its connection");
        const std::size_t before = arriving.taken;
        arriving.taken += static_cast<std::size_t>(count);
        if (before < kHeaderBytes && arriving.taken >= kHeaderBytes) check_header(arriving);
    }
    return true;
}

void Mesh::check_header(const Arriving& arriving) {
    if (arriving.header == header_of(arriving.kind, arriving.payload.bytes)) return;
    constexpr std::uint64_t kSize = (std::uint64_t{1} << kBitsOfSize) - 1;
    throw Error(
        ErrorKind::io,
        fmt::format("rank {} sent {} bytes (of kind {}), where {} (of kind {}) were awaited: ranks do not do the same",
                    arriving.link->rank, arriving.header & kSize, arriving.header >> kBitsOfSize,
                    arriving.payload.bytes, static_cast<int>(arriving.kind)),
        "start the same deft with the same arguments on each rank", "checkpoints written so far");
}

void Mesh::sleep(std::span<const Arriving> awaited) {
    polled_.clear();
    polled_ranks_.clear();
    for (std::size_t r = 0; r < watches_.size(); ++r) {
        if (watches_[r].socket.number() < 0 || watches_[r].is_over) continue;
        polled_.push_back({watches_[r].socket.number(), POLLIN, 0});
        polled_ranks_.push_back(static_cast<int>(r));
    }
    for (const Link* const link : links_)
        if (!link->leaving.empty()) polled_.push_back({link->socket.number(), POLLOUT, 0});
    for (const Arriving& arriving : awaited)
        if (arriving.taken < kHeaderBytes + arriving.payload.bytes)
            polled_.push_back({arriving.link->socket.number(), POLLIN, 0});
    if (::poll(polled_.data(), polled_.size(), -1) <= 0) return;
    for (std::size_t i = 0; i < polled_ranks_.size(); ++i)
        if (polled_[i].revents != 0) read_watch(polled_ranks_[i]);
}

void Mesh::read_watch(int rank) {
    Watch& watch = watches_[static_cast<std::size_t>(rank)];
    while (watch.bytes < watch.said.size()) {
        const ssize_t count =
            ::recv(watch.socket.number(), watch.said.data() + watch.bytes, watch.said.size() - watch.bytes, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && is_not_ready(errno)) return;
        if (count <= 0) fail(rank, count < 0 ? error_text(errno) : "it closed its connection");
        watch.bytes += static_cast<std::size_t>(count);
    }
    std::int32_t word = 0;
    std::memcpy(&word, watch.said.data(), sizeof word);
    watch.is_over = true;
    if (word != kGoodbye) fail(word, fmt::format("rank {} ended because of that", rank));
}

void Mesh::fail_of(int rank, const std::string& why) {
    Watch& watch = watches_[static_cast<std::size_t>(rank)];
    if (watch.socket.number() < 0) throw std::logic_error("an exchange after this rank has left");
    // A rank that ends closes this connection a moment after the other.
    const Clock::time_point deadline = Clock::now() + std::chrono::seconds(1);
    if (!watch.is_over && tcp::wait_for(watch.socket, POLLIN, deadline)) read_watch(rank);
    fail(rank, watch.is_over ? "it has ended, while this one goes on" : why);
}

void Mesh::fail(int lost, const std::string& why) {
    send_to_all(lost);
    throw Error(ErrorKind::io, fmt::format("rank {} is gone: {}", lost, why),
                "see what its log says, and start the ranks again", "checkpoints written so far");
}

void Mesh::send_to_all(std::int32_t word) {
    for (Watch& watch : watches_) {
        if (watch.socket.number() < 0) continue;
        const ssize_t ignored = ::send(watch.socket.number(), &word, sizeof word, MSG_NOSIGNAL);
        static_cast<void>(ignored);
    }
    // A rank that was notified of a loss gets no further word.
    if (word != kGoodbye)
        for (Watch& watch : watches_) ::shutdown(watch.socket.number(), SHUT_WR);
}

}  // namespace deft::engine
