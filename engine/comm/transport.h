#pragma once
// Carries bytes between ranks in the host's memory, through MPI where the build has it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace deft::engine {

// The bytes for or from one rank, in place.
template <class Byte>
struct Piece {
    Byte* at = nullptr;
    std::size_t bytes = 0;
};
using Outgoing = Piece<const std::byte>;
using Incoming = Piece<std::byte>;

class Transport {
 public:
    Transport() = default;
    virtual ~Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    // The ranks of equal color, in their order.
    virtual std::shared_ptr<Transport> split(int color) = 0;

    // (ranks) pieces to and from each rank; one to or from this rank itself is empty. What one rank begins to send is
    // received by the other in the same order, in pieces of the same sizes. What is sent stays as it is until
    // finish_sending(), which waits until all is received that this rank began to send.
    virtual void begin_sending(std::span<const Outgoing> pieces) = 0;
    virtual void receive(std::span<const Incoming> pieces) = 0;
    virtual void finish_sending() = 0;

    // A rank that waits long for it leaves its core to others.
    virtual void broadcast(std::byte* values, std::size_t bytes, int root) = 0;
    virtual void send(const std::byte* values, std::size_t bytes, int to) = 0;
    virtual void receive(std::byte* values, std::size_t bytes, int from) = 0;
    virtual void barrier() = 0;
    // This process ends without a word to the others, which its launcher then ends.
    virtual void leave() = 0;

    // Payload that left this rank through this transport.
    std::int64_t bytes_sent() const { return sent_; }

 protected:
    void count_sent(std::size_t bytes) { sent_ += static_cast<std::int64_t>(bytes); }

 private:
    std::int64_t sent_ = 0;
};

}  // namespace deft::engine
