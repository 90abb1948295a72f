#pragma once
// How ranks find each other and get connected in pairs. Whoever else connects, and says something else or nothing, is
// dropped, and disturbs nobody.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/comm/meeting.h"
#include "engine/comm/tcp.h"

namespace deft::engine {

// A listener of a rank for others, and the number that they must know.
class Door {
 public:
    // At the loopback of this machine where `host` is its number or "localhost", else at all addresses.
    explicit Door(const std::string& host = {});

    const Descriptor& listener() const { return listener_; }
    std::uint16_t port() const { return tcp::port_of(listener_); }
    std::uint64_t key() const { return key_; }

 private:
    Descriptor listener_;
    std::uint64_t key_ = 0;
};

// Where the door of a rank is, as the others see it.
struct DoorAddress {
    tcp::Host host;
    std::uint32_t port = 0;
    std::int32_t rank = 0;  // of all ranks, for messages
    std::uint64_t key = 0;
};

// That door as a rank sees it which found rank 0 at `first`: what rank 0 sees as its own machine's is there.
DoorAddress seen_from(const tcp::Host& first, DoorAddress door);

// (ranks) all doors. Rank 0 listens where the meeting is, and sends all to the others. Errors: io, config.
std::vector<DoorAddress> meet(const Meeting& meeting, const Door& own);

// (channels, ranks) connections of this rank, that many to each other one; none to itself. Each rank of `places` calls
// it. Errors: io.
std::vector<std::vector<Descriptor>> connect_pairs(int rank, std::span<const DoorAddress> places, const Door& own,
                                                   int channels, Clock::time_point deadline);

}  // namespace deft::engine
