#include "engine/comm/visitors.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace deft::engine {

namespace {

// Beyond that many strangers who say nothing the one that has been silent for longest is dropped.
constexpr std::size_t kMostStrangers = 256;

}  // namespace

Visitors::Heard Visitors::listen_to(Unheard& visitor) {
    while (visitor.bytes < visitor.said.size()) {
        const ssize_t count = ::recv(visitor.socket.number(), visitor.said.data() + visitor.bytes,
                                     visitor.said.size() - visitor.bytes, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Heard::part;
        if (count <= 0) return Heard::other;
        visitor.bytes += static_cast<std::size_t>(count);
    }
    std::uint64_t magic = 0;
    std::memcpy(&magic, visitor.said.data(), sizeof magic);
    return magic == Hello::kMagic ? Heard::all : Heard::other;
}

std::optional<Visitor> Visitors::next(Clock::time_point deadline) {
    for (;;) {
        for (auto visitor = unheard_.begin(); visitor != unheard_.end();) {
            const Heard heard = listen_to(*visitor);
            if (heard == Heard::part) {
                ++visitor;
                continue;
            }
            Visitor known{std::move(visitor->socket), {}};
            std::memcpy(&known.hello, visitor->said.data(), sizeof known.hello);
            visitor = unheard_.erase(visitor);
            if (heard == Heard::all) return known;
        }
        if (Clock::now() >= deadline) return {};
        waiting_.assign(1, {listener_.number(), POLLIN, 0});
        for (const Unheard& visitor : unheard_) waiting_.push_back({visitor.socket.number(), POLLIN, 0});
        if (::poll(waiting_.data(), waiting_.size(), tcp::milliseconds_until(deadline)) <= 0) continue;
        if ((waiting_[0].revents & POLLIN) == 0) continue;
        Descriptor socket = tcp::accept_from(listener_);
        if (socket.number() < 0) continue;
        if (unheard_.size() == kMostStrangers + static_cast<std::size_t>(expected_)) unheard_.pop_front();
        unheard_.push_back({std::move(socket), {}, 0});
    }
}

}  // namespace deft::engine
