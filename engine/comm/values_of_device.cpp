#include <stdexcept>
#include <utility>

#include "engine/comm/nccl.h"
#include "engine/comm/value_home.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/runtime.h"

namespace deft::engine {

namespace {

// The device exchanges and adds on its own, in the order of the calls, while the host goes on.
class ValuesOfDevice final : public ValueHome {
 public:
    ValuesOfDevice(std::shared_ptr<nccl::Group> group, std::span<std::byte> scratch)
        : group_(std::move(group)), scratch_(scratch) {}

    void begin(Exchange exchange) override {
        nccl::follow(*group_);
        nccl::exchange(*group_, exchange.sent, exchange.received);
        for (const Outgoing& piece : exchange.sent) sent_ += static_cast<std::int64_t>(piece.bytes);
        if (exchange.then) exchange.then();
    }

    void finish() override { nccl::rejoin(*group_); }

    std::span<std::byte> scratch() override { return scratch_; }

    void sum(float* sums, const float* others, std::int64_t n, int rank, int ranks) override {
        add(sums, others, n, rank, ranks);
    }
    void sum(double* sums, const double* others, std::int64_t n, int rank, int ranks) override {
        add(sums, others, n, rank, ranks);
    }
    void sum(std::int64_t* sums, const std::int64_t* others, std::int64_t n, int rank, int ranks) override {
        add(sums, others, n, rank, ranks);
    }

    void copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
        if constexpr (kernels::cuda::kBuilt) kernels::cuda::copy_on_device(nccl::exec(*group_), to, from, bytes);
    }

    nccl::Group* device() override { return group_.get(); }

    std::int64_t bytes_sent() const override { return sent_; }

 private:
    template <class Value>
    void add(Value* sums, const Value* others, std::int64_t n, int rank, int ranks) {
        if constexpr (kernels::cuda::kBuilt)
            kernels::cuda::sum_ranks(nccl::exec(*group_), sums, others, n, rank, ranks);
        else
            throw std::logic_error("values of a device in a build without CUDA");
    }

    std::shared_ptr<nccl::Group> group_;
    std::span<std::byte> scratch_;
    std::int64_t sent_ = 0;
};

}  // namespace

std::unique_ptr<ValueHome> values_of_device(const std::shared_ptr<Transport>& transport,
                                            const kernels::cuda::Exec& exec, std::span<std::byte> scratch) {
    return std::make_unique<ValuesOfDevice>(nccl::open(transport, exec), scratch);
}

std::unique_ptr<ValueHome> values_beside(const std::shared_ptr<Transport>& transport, ValueHome& other) {
    return std::make_unique<ValuesOfDevice>(nccl::open(transport, *other.device()), other.scratch());
}

}  // namespace deft::engine
