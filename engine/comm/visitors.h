#pragma once
// Who connects to a rank before it knows them, and what they say first.

#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engine/comm/tcp.h"

namespace deft::engine {

// The first bytes on every connection. All words have fixed sizes, so nothing is allocated on anybody's word.
struct Hello {
    static constexpr std::uint64_t kMagic = 0x3130'736b'6e61'7264;  // "dranks01"

    std::uint64_t magic = kMagic;
    std::uint64_t key = 0;  // of the door; 0 where rank 0 holds the meeting
    std::int32_t rank = 0, ranks = 0;
    std::uint32_t channel = 0;
    std::uint32_t door_port = 0;
    std::uint64_t door_key = 0;
    std::array<char, 64> token{};  // its hash
};

struct Visitor {
    Descriptor socket;
    Hello hello;
};

// The visitors of a listener. A slow one keeps no other waiting.
class Visitors {
 public:
    // expected: how many may come at once who are no strangers.
    Visitors(const Descriptor& listener, int expected) : listener_(listener), expected_(expected) {}

    // The next that said a whole hello; none where the deadline comes first. Errors: io.
    std::optional<Visitor> next(Clock::time_point deadline);

 private:
    struct Unheard {
        Descriptor socket;
        std::array<std::byte, sizeof(Hello)> said{};
        std::size_t bytes = 0;
    };
    enum class Heard { part, all, other };
    static Heard listen_to(Unheard& visitor);

    const Descriptor& listener_;
    int expected_;
    std::deque<Unheard> unheard_;  // from the oldest
    std::vector<pollfd> waiting_;
};

}  // namespace deft::engine
