#pragma once
// Connections over TCP: listened for, made, and set up. No socket here blocks; whoever waits polls.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/stopwatch.h"

namespace deft::engine::tcp {

// An address as ranks exchange it.
struct Host {
    std::uint32_t is_v6 = 0;
    std::array<std::uint8_t, 16> bytes{};  // of IPv4 the first four
};
bool is_loopback(const Host& host);
// "10.0.0.1", "::1".
std::string number_of(const Host& host);
// "10.0.0.1:29500", "[::1]:29500".
std::string text_of(const Host& host, std::uint16_t port);

// None where the name is not known, and `problem` says why.
std::vector<Host> hosts_named(const std::string& name, std::string& problem);

// Listens at that port of this machine: at the host's address where that is this machine's loopback, else at all of its
// addresses, since a name may resolve to another one elsewhere. 0: a port that is free. Errors: io.
Descriptor listen_at(const std::string& host, std::uint16_t port);
std::uint16_t port_of(const Descriptor& listener);
// A connection that waited; none where it is gone already. Errors: io, where this process may open no more files.
Descriptor accept_from(const Descriptor& listener);

// None where it fails before the deadline, and `problem` says why.
Descriptor connect_to(const Host& host, std::uint16_t port, Clock::time_point deadline, std::string& problem);
// The addresses of a connection's two ends.
Host own_of(const Descriptor& socket);
Host peer_of(const Descriptor& socket);

// False where the deadline comes first.
bool wait_for(const Descriptor& socket, short events, Clock::time_point deadline);
// All of it; false where the other side closes or fails, or the deadline comes first.
bool read_whole(const Descriptor& socket, std::span<std::byte> bytes, Clock::time_point deadline);
bool write_whole(const Descriptor& socket, std::span<const std::byte> bytes, Clock::time_point deadline);

// The timeout of poll(2) until then, at least a millisecond, so that nobody spins before it.
int milliseconds_until(Clock::time_point deadline);

}  // namespace deft::engine::tcp
