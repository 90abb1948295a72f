#include <algorithm>
#include <utility>

#include "engine/comm/value_home.h"
#include "kernels/cpu/cpu.h"

namespace deft::engine {

namespace {

// The values that a rank receives and adds at once stay in its cache.
constexpr std::size_t kScratchBytes = std::size_t{1} << 20;

// Sends begin at once; what comes is taken, and added, by finish(): until then a slow rank keeps no other waiting.
class ValuesOfHost final : public ValueHome {
 public:
    explicit ValuesOfHost(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

    void begin(Exchange exchange) override {
        transport_->begin_sending(exchange.sent);
        begun_.push_back(std::move(exchange));
    }

    void finish() override {
        for (const Exchange& exchange : begun_) {
            transport_->receive(exchange.received);
            if (exchange.then) exchange.then();
        }
        begun_.clear();
        transport_->finish_sending();
    }

    std::span<std::byte> scratch() override {
        scratch_.resize(kScratchBytes);
        return scratch_;
    }

    void sum(float* sums, const float* others, std::int64_t n, int rank, int ranks) override {
        kernels::cpu::sum_ranks(exec_, sums, others, n, rank, ranks);
    }
    void sum(double* sums, const double* others, std::int64_t n, int rank, int ranks) override {
        kernels::cpu::sum_ranks(exec_, sums, others, n, rank, ranks);
    }
    void sum(std::int64_t* sums, const std::int64_t* others, std::int64_t n, int rank, int ranks) override {
        kernels::cpu::sum_ranks(exec_, sums, others, n, rank, ranks);
    }

    void copy(std::byte* to, const std::byte* from, std::size_t bytes) override { std::copy_n(from, bytes, to); }

    std::int64_t bytes_sent() const override { return 0; }  // the transport counts them

 private:
    std::shared_ptr<Transport> transport_;
    std::vector<Exchange> begun_;
    std::vector<std::byte> scratch_;
    kernels::cpu::Exec exec_;
};

}  // namespace

std::unique_ptr<ValueHome> values_of_host(std::shared_ptr<Transport> transport) {
    return std::make_unique<ValuesOfHost>(std::move(transport));
}

}  // namespace deft::engine
