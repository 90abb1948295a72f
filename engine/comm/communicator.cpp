#include "engine/comm/communicator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/comm/launch.h"
#include "engine/comm/mpi.h"
#include "engine/comm/nccl.h"
#include "engine/comm/transport.h"
#include "engine/comm/value_home.h"
#include "kernels/ceil_div.h"

namespace deft::engine {

namespace {

using kernels::ceil_div;

template <class Real>
Outgoing outgoing(const Real* at, std::int64_t count) {
    return {reinterpret_cast<const std::byte*>(at), static_cast<std::size_t>(count) * sizeof(Real)};
}

template <class Real>
Incoming incoming(Real* at, std::int64_t count) {
    return {reinterpret_cast<std::byte*>(at), static_cast<std::size_t>(count) * sizeof(Real)};
}

// Values of which each rank has a share, or a range of them. They are carried in blocks: the same part of every share
// at once, from its place and, unless it is to be added, to where it belongs.
template <class Real>
class SharedValues {
 public:
    SharedValues(ValueHome& home, int rank, int ranks, std::span<Real> values, const Share& range)
        : home_(home),
          rank_(rank),
          ranks_(ranks),
          values_(values),
          range_(range),
          of_block_(
              std::max<std::int64_t>(1, static_cast<std::int64_t>(home.scratch().size() / sizeof(Real)) / ranks)) {
        for (int r = 0; r < ranks; ++r) blocks_ = std::max(blocks_, ceil_div(share(r).size(), of_block_));
    }

    // This rank's share = its sum over ranks, in their order.
    void begin_sum() {
        for (std::int64_t block = 0; block < blocks_; ++block) {
            Exchange exchange = empty();
            const Share own = part_of(rank_, block);
            auto* const others = reinterpret_cast<Real*>(home_.scratch().data());  // (ranks, own)
            for (int r = 0; r < ranks_; ++r) {
                if (r == rank_) continue;
                const Share part = part_of(r, block);
                exchange.sent[static_cast<std::size_t>(r)] = outgoing(values_.data() + part.begin, part.size());
                exchange.received[static_cast<std::size_t>(r)] = incoming(others + r * own.size(), own.size());
            }
            Real* const sums = values_.data() + own.begin;
            exchange.then = [&home = home_, sums, others, n = own.size(), rank = rank_, ranks = ranks_] {
                home.sum(sums, others, n, rank, ranks);
            };
            home_.begin(std::move(exchange));
        }
    }

    // Every rank's share, put in place on all.
    void begin_gather() {
        for (std::int64_t block = 0; block < blocks_; ++block) {
            Exchange exchange = empty();
            const Share own = part_of(rank_, block);
            for (int r = 0; r < ranks_; ++r) {
                if (r == rank_) continue;
                const Share part = part_of(r, block);
                exchange.sent[static_cast<std::size_t>(r)] = outgoing(values_.data() + own.begin, own.size());
                exchange.received[static_cast<std::size_t>(r)] = incoming(values_.data() + part.begin, part.size());
            }
            home_.begin(std::move(exchange));
        }
    }

 private:
    Exchange empty() const {
        Exchange exchange;
        exchange.sent.resize(static_cast<std::size_t>(ranks_));
        exchange.received.resize(static_cast<std::size_t>(ranks_));
        return exchange;
    }
    Share share(int r) const {
        return common_part(share_of(static_cast<std::int64_t>(values_.size()), r, ranks_), range_);
    }
    Share part_of(int r, std::int64_t block) const {
        const Share of_rank = share(r);
        return {std::min(of_rank.end, of_rank.begin + block * of_block_),
                std::min(of_rank.end, of_rank.begin + (block + 1) * of_block_)};
    }

    ValueHome& home_;
    int rank_, ranks_;
    std::span<Real> values_;
    Share range_;
    std::int64_t of_block_, blocks_ = 0;
};

template <class Real>
Share all_of(std::span<Real> values) {
    return {0, static_cast<std::int64_t>(values.size())};
}

template <class Real>
void sum_shares(ValueHome& home, int rank, int ranks, std::span<Real> values) {
    SharedValues<Real>(home, rank, ranks, values, all_of(values)).begin_sum();
    home.finish();
}

template <class Real>
void gather_shares(ValueHome& home, int rank, int ranks, std::span<Real> values) {
    SharedValues<Real>(home, rank, ranks, values, all_of(values)).begin_gather();
    home.finish();
}

template <class Real>
void sum_over_ranks(ValueHome& home, int rank, int ranks, std::span<Real> values) {
    sum_shares(home, rank, ranks, values);
    gather_shares(home, rank, ranks, values);
}

}  // namespace

Share share_of(std::int64_t count, int rank, int ranks) {
    return {count * rank / ranks, count * (rank + 1) / ranks};
}

Share common_part(const Share& a, const Share& b) {
    const std::int64_t begin = std::max(a.begin, b.begin);
    return {begin, std::max(begin, std::min(a.end, b.end))};
}

struct Communicator::Ranks {
    std::shared_ptr<Transport> transport;
    std::unique_ptr<ValueHome> values;
};

Communicator::Communicator(std::shared_ptr<Transport> transport) {
    if (!transport) return;
    rank_ = transport->rank();
    size_ = transport->size();
    std::unique_ptr<ValueHome> values = values_of_host(transport);
    ranks_ = std::make_shared<Ranks>(std::move(transport), std::move(values));
}

Communicator Communicator::of_launcher() {
    const Launch launch = launch_of_this_process();
    require_mpi_between(launch);
    return launch.has_mpi() ? Communicator(mpi::of_launch(launch)) : Communicator();
}

bool Communicator::has_mpi() {
    return mpi::is_there();
}

bool Communicator::has_nccl() {
    return nccl::is_there();
}

Communicator Communicator::split(int color) const {
    return ranks_ ? Communicator(ranks_->transport->split(color)) : *this;
}

void Communicator::use_device(const kernels::cuda::Exec& exec, std::span<std::byte> scratch) const {
    if (size_ > 1) ranks_->values = values_of_device(ranks_->transport, exec, scratch);
}

void Communicator::use_device_of(const Communicator& other) const {
    if (size_ > 1) ranks_->values = values_beside(ranks_->transport, *other.ranks_->values);
}

void Communicator::all_reduce(std::span<float> values) const {
    if (size_ > 1) sum_over_ranks(*ranks_->values, rank_, size_, values);
}

void Communicator::all_reduce(std::span<double> values) const {
    if (size_ > 1) sum_over_ranks(*ranks_->values, rank_, size_, values);
}

void Communicator::all_reduce(std::span<std::int64_t> values) const {
    if (size_ > 1) sum_over_ranks(*ranks_->values, rank_, size_, values);
}

void Communicator::reduce_scatter(std::span<float> values) const {
    if (size_ > 1) sum_shares(*ranks_->values, rank_, size_, values);
}

void Communicator::reduce_scatter(std::span<double> values) const {
    if (size_ > 1) sum_shares(*ranks_->values, rank_, size_, values);
}

void Communicator::begin_reduce_scatter(std::span<float> values, const Share& range) const {
    if (size_ > 1) SharedValues<float>(*ranks_->values, rank_, size_, values, range).begin_sum();
}

void Communicator::begin_reduce_scatter(std::span<double> values, const Share& range) const {
    if (size_ > 1) SharedValues<double>(*ranks_->values, rank_, size_, values, range).begin_sum();
}

void Communicator::finish() const {
    if (size_ > 1) ranks_->values->finish();
}

void Communicator::all_gather(std::span<float> values) const {
    if (size_ > 1) gather_shares(*ranks_->values, rank_, size_, values);
}

void Communicator::all_gather(std::span<double> values) const {
    if (size_ > 1) gather_shares(*ranks_->values, rank_, size_, values);
}

void Communicator::all_gather(std::span<kernels::bf16> values) const {
    if (size_ > 1) gather_shares(*ranks_->values, rank_, size_, values);
}

void Communicator::all_gather(std::span<float> values, const Share& range) const {
    if (size_ == 1) return;
    SharedValues<float>(*ranks_->values, rank_, size_, values, range).begin_gather();
    ranks_->values->finish();
}

void Communicator::all_to_all(std::span<const std::byte> rows, std::span<const std::int64_t> sent,
                              std::span<std::byte> into, std::span<const std::int64_t> received,
                              std::int64_t row_bytes) const {
    if (size_ == 1) {
        std::copy(rows.begin(), rows.begin() + sent[0] * row_bytes, into.begin());
        return;
    }
    ValueHome& home = *ranks_->values;
    Exchange exchange;
    const std::byte* from = rows.data();
    std::byte* to = into.data();
    for (int r = 0; r < size_; ++r) {
        const auto at = static_cast<std::size_t>(r);
        const std::int64_t leaving = sent[at] * row_bytes, coming = received[at] * row_bytes;
        if (r == rank_)
            exchange.then = [&home, from, to, coming] { home.copy(to, from, static_cast<std::size_t>(coming)); };
        exchange.sent.push_back(outgoing(from, r == rank_ ? 0 : leaving));
        exchange.received.push_back(incoming(to, r == rank_ ? 0 : coming));
        from += leaving;
        to += coming;
    }
    home.begin(std::move(exchange));
    home.finish();
}

void Communicator::broadcast(std::span<std::byte> values, int root) const {
    if (size_ > 1) ranks_->transport->broadcast(values.data(), values.size(), root);
}

void Communicator::send(std::span<const std::byte> values, int to) const {
    ranks_->transport->send(values.data(), values.size(), to);
}

void Communicator::receive(std::span<std::byte> values, int from) const {
    ranks_->transport->receive(values.data(), values.size(), from);
}

void Communicator::barrier() const {
    if (size_ > 1) ranks_->transport->barrier();
}

void Communicator::leave() const {
    if (ranks_) ranks_->transport->leave();
}

std::int64_t Communicator::bytes_sent() const {
    return ranks_ ? ranks_->transport->bytes_sent() + ranks_->values->bytes_sent() : 0;
}

std::string text_of_rank(const Communicator& ranks, int rank, std::string text) {
    auto size = static_cast<std::int64_t>(text.size());
    ranks.broadcast(std::as_writable_bytes(std::span(&size, 1)), rank);
    text.resize(static_cast<std::size_t>(size));
    ranks.broadcast(std::as_writable_bytes(std::span(text)), rank);
    return text;
}

}  // namespace deft::engine
