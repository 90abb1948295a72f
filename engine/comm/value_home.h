#pragma once
// Where the values are that ranks exchange: in the host's memory, or in that of each rank's device.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/comm/transport.h"
#include "kernels/cuda/exec.h"

namespace deft::engine {

namespace nccl {
struct Group;
}

// One exchange between ranks.
struct Exchange {
    std::vector<Outgoing> sent;      // (ranks)
    std::vector<Incoming> received;  // (ranks)
    std::function<void()> then;      // what is done with what came; or nothing
};

class ValueHome {
 public:
    ValueHome() = default;
    virtual ~ValueHome() = default;
    ValueHome(const ValueHome&) = delete;
    ValueHome& operator=(const ValueHome&) = delete;

    // One exchange is done before the next, in the order of begin(), and all of them when finish() is. Until then what
    // they send stays as it is.
    virtual void begin(Exchange exchange) = 0;
    virtual void finish() = 0;

    // The buffer for received values, which the next exchange overwrites.
    virtual std::span<std::byte> scratch() = 0;

    // sums (n) = the sum over ranks, in their order: of rank r from row r of others (ranks, n), of this rank from sums
    // itself.
    virtual void sum(float* sums, const float* others, std::int64_t n, int rank, int ranks) = 0;
    virtual void sum(double* sums, const double* others, std::int64_t n, int rank, int ranks) = 0;
    virtual void sum(std::int64_t* sums, const std::int64_t* others, std::int64_t n, int rank, int ranks) = 0;

    // to = from, after what was begun before.
    virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes) = 0;

    // The device's exchanges, null of the host.
    virtual nccl::Group* device() { return nullptr; }

    // Payload that left this rank from there.
    virtual std::int64_t bytes_sent() const = 0;
};

std::unique_ptr<ValueHome> values_of_host(std::shared_ptr<Transport> transport);
// All ranks of the transport call these. scratch: of the device. Errors: missing, in a build without NCCL; device.
std::unique_ptr<ValueHome> values_of_device(const std::shared_ptr<Transport>& transport,
                                            const kernels::cuda::Exec& exec, std::span<std::byte> scratch);
// Values on the device of another such home, in order with its exchanges, so that both can share one scratch.
std::unique_ptr<ValueHome> values_beside(const std::shared_ptr<Transport>& transport, ValueHome& other);

}  // namespace deft::engine
