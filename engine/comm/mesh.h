#pragma once
// The connections of this process to other ranks, those of all groups: what leaves through them, what is awaited, and
// who is gone. Whoever waits here sleeps, and pushes out meanwhile what any group has begun to send: two ranks that
// wait for each other in different groups both go on, whatever the sizes.

#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "engine/comm/transport.h"

namespace deft::engine {

// The kind of a message, which shows when ranks do not do the same, instead of mixing them up.
enum class MessageKind : std::uint8_t { pieces = 1, broadcast, message, barrier, split };

// A message that has begun to leave. It stays in the sender's memory until it is gone.
struct Leaving {
    std::uint64_t header = 0;  // kind and bytes
    Outgoing payload;
    std::size_t sent = 0;  // of header and payload
};

// A connection of one group to another rank of it.
struct Link {
    int rank = 0;  // of all ranks
    Descriptor socket;
    std::deque<Leaving> leaving;
};

// A message that is awaited.
struct Arriving {
    Link* link = nullptr;
    MessageKind kind = MessageKind::pieces;
    Incoming payload;
    std::uint64_t header = 0;
    std::size_t taken = 0;  // of header and payload
};

class Mesh {
 public:
    // watches (ranks): connections that carry nothing until their rank ends, and then its outcome or the rank that
    // caused it. Data connections cannot show this, because unread data hides their end.
    explicit Mesh(std::vector<Descriptor> watches);
    // Says goodbye, unless an error unwinds this process.
    ~Mesh();
    Mesh(const Mesh&) = delete;
    Mesh& operator=(const Mesh&) = delete;

    void add(Link& link) { links_.push_back(&link); }
    void remove(const Link& link) { std::erase(links_, &link); }

    // As much of it leaves as the kernel takes now.
    void begin(Link& link, MessageKind kind, Outgoing payload);
    // Waits until all that is awaited has come, and all has left through those links. Errors: io, where a rank is gone,
    // or does something else.
    void exchange(std::span<Arriving> awaited, std::span<Link* const> leaving);
    // Closes all without goodbye.
    void leave();

 private:
    struct Watch {
        Descriptor socket;
        std::array<std::byte, sizeof(std::int32_t)> said{};
        std::size_t bytes = 0;
        bool is_over = false;  // it said goodbye
    };

    void push(Link& link);
    bool take(Arriving& arriving);
    void check_header(const Arriving& arriving);
    void sleep(std::span<const Arriving> awaited);
    void read_watch(int rank);
    // The connection of that rank has failed: it is gone, or another is because of which it ended.
    [[noreturn]] void fail_of(int rank, const std::string& why);
    [[noreturn]] void fail(int lost, const std::string& why);
    void send_to_all(std::int32_t word);

    std::vector<Watch> watches_;  // (ranks)
    std::vector<Link*> links_;
    std::vector<pollfd> polled_;
    std::vector<int> polled_ranks_;
};

}  // namespace deft::engine
