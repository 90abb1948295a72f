#include "engine/comm/communicator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/comm/mpi.h"
#include "kernels/ceil_div.h"

namespace deft::engine {

namespace {

using kernels::ceil_div;

// Values of all ranks that one exchange carries at most: what a rank receives and adds then stays in its cache.
constexpr std::int64_t kAtOnce = std::int64_t{1} << 18;

using Outgoing = mpi::Piece<const std::byte>;
using Incoming = mpi::Piece<std::byte>;

template <class Real>
Outgoing outgoing(const Real* at, std::int64_t count) {
    return {reinterpret_cast<const std::byte*>(at), static_cast<std::size_t>(count) * sizeof(Real)};
}

template <class Real>
Incoming incoming(Real* at, std::int64_t count) {
    return {reinterpret_cast<std::byte*>(at), static_cast<std::size_t>(count) * sizeof(Real)};
}

template <class Real>
void add(std::int64_t count, const Real* __restrict from, Real* __restrict to) {
    for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

// Values of which each rank has a share. They are carried in blocks: the same part of every share at once, from where it
// stands and, unless it is to be added, to where it belongs.
template <class Real>
class SharedValues {
 public:
    SharedValues(mpi::Group& group, int rank, int ranks, std::span<Real> values)
        : group_(group),
          rank_(rank),
          ranks_(ranks),
          values_(values),
          of_block_(std::max<std::int64_t>(1, kAtOnce / ranks)),
          sent_(static_cast<std::size_t>(ranks)),
          received_(static_cast<std::size_t>(ranks)) {
        const std::int64_t largest = ceil_div(count(), std::int64_t{ranks});
        blocks_ = ceil_div(largest, of_block_);
        others_.resize(static_cast<std::size_t>(std::min(largest, of_block_) * ranks));
    }

    std::int64_t blocks() const { return blocks_; }

    // This rank's part of the block = its sum over ranks, in their order.
    void sum(std::int64_t block) {
        const Share own = part_of(rank_, block);
        for (int r = 0; r < ranks_; ++r) {
            const Share part = part_of(r, block);
            const bool is_own = r == rank_;
            sent_[static_cast<std::size_t>(r)] = outgoing(values_.data() + part.begin, is_own ? 0 : part.size());
            received_[static_cast<std::size_t>(r)] = incoming(of_rank(r, own), is_own ? 0 : own.size());
        }
        mpi::exchange(group_, sent_, received_);
        Real* const sums = values_.data() + own.begin;
        if (rank_ > 0) {
            std::copy_n(sums, own.size(), of_rank(rank_, own));
            std::copy_n(of_rank(0, own), own.size(), sums);
        }
        for (int r = 1; r < ranks_; ++r) add(own.size(), of_rank(r, own), sums);
    }

    // Every rank's part of the block, put in place on all.
    void gather(std::int64_t block) {
        const Share own = part_of(rank_, block);
        for (int r = 0; r < ranks_; ++r) {
            const Share part = part_of(r, block);
            const bool is_own = r == rank_;
            sent_[static_cast<std::size_t>(r)] = outgoing(values_.data() + own.begin, is_own ? 0 : own.size());
            received_[static_cast<std::size_t>(r)] = incoming(values_.data() + part.begin, is_own ? 0 : part.size());
        }
        mpi::exchange(group_, sent_, received_);
    }

 private:
    std::int64_t count() const { return static_cast<std::int64_t>(values_.size()); }
    Share part_of(int r, std::int64_t block) const {
        const Share share = share_of(count(), r, ranks_);
        return {std::min(share.end, share.begin + block * of_block_), std::min(share.end, share.begin + (block + 1) * of_block_)};
    }
    // What rank r has where `own` of this rank is summed.
    Real* of_rank(int r, const Share& own) { return others_.data() + r * own.size(); }

    mpi::Group& group_;
    int rank_, ranks_;
    std::span<Real> values_;
    std::int64_t of_block_, blocks_ = 0;
    std::vector<Outgoing> sent_;      // (ranks)
    std::vector<Incoming> received_;  // (ranks)
    std::vector<Real> others_;        // (ranks, own)
};

template <class Real>
void sum_shares(mpi::Group& group, int rank, int ranks, std::span<Real> values) {
    SharedValues<Real> shared(group, rank, ranks, values);
    for (std::int64_t block = 0; block < shared.blocks(); ++block) shared.sum(block);
}

template <class Real>
void gather_shares(mpi::Group& group, int rank, int ranks, std::span<Real> values) {
    SharedValues<Real> shared(group, rank, ranks, values);
    for (std::int64_t block = 0; block < shared.blocks(); ++block) shared.gather(block);
}

template <class Real>
void sum_over_ranks(mpi::Group& group, int rank, int ranks, std::span<Real> values) {
    SharedValues<Real> shared(group, rank, ranks, values);
    for (std::int64_t block = 0; block < shared.blocks(); ++block) {
        shared.sum(block);
        shared.gather(block);
    }
}

}  // namespace

Share share_of(std::int64_t count, int rank, int ranks) {
    return {count * rank / ranks, count * (rank + 1) / ranks};
}

Share common_part(const Share& a, const Share& b) {
    const std::int64_t begin = std::max(a.begin, b.begin);
    return {begin, std::max(begin, std::min(a.end, b.end))};
}

Communicator::Communicator(std::shared_ptr<mpi::Group> group)
    : group_(std::move(group)), rank_(group_ ? mpi::rank(*group_) : 0), size_(group_ ? mpi::size(*group_) : 1) {}

Communicator Communicator::of_launcher() {
    return Communicator(mpi::of_launcher());
}

bool Communicator::has_mpi() {
    return mpi::is_there();
}

Communicator Communicator::split(int color) const {
    return group_ ? Communicator(mpi::split(group_, color)) : *this;
}

void Communicator::all_reduce(std::span<float> values) const {
    if (size_ > 1) sum_over_ranks(*group_, rank_, size_, values);
}

void Communicator::all_reduce(std::span<double> values) const {
    if (size_ > 1) sum_over_ranks(*group_, rank_, size_, values);
}

void Communicator::all_reduce(std::span<std::int64_t> values) const {
    if (size_ > 1) sum_over_ranks(*group_, rank_, size_, values);
}

void Communicator::reduce_scatter(std::span<float> values) const {
    if (size_ > 1) sum_shares(*group_, rank_, size_, values);
}

void Communicator::reduce_scatter(std::span<double> values) const {
    if (size_ > 1) sum_shares(*group_, rank_, size_, values);
}

void Communicator::all_gather(std::span<float> values) const {
    if (size_ > 1) gather_shares(*group_, rank_, size_, values);
}

void Communicator::all_gather(std::span<double> values) const {
    if (size_ > 1) gather_shares(*group_, rank_, size_, values);
}

void Communicator::all_to_all(std::span<const std::byte> rows, std::span<const std::int64_t> sent, std::span<std::byte> into,
                              std::span<const std::int64_t> received, std::int64_t row_bytes) const {
    if (size_ == 1) {
        std::copy(rows.begin(), rows.begin() + sent[0] * row_bytes, into.begin());
        return;
    }
    std::vector<Outgoing> to_ranks;
    std::vector<Incoming> from_ranks;
    const std::byte* from = rows.data();
    std::byte* to = into.data();
    for (std::size_t r = 0; r < sent.size(); ++r) {
        to_ranks.push_back(outgoing(from, sent[r] * row_bytes));
        from_ranks.push_back(incoming(to, received[r] * row_bytes));
        from += sent[r] * row_bytes;
        to += received[r] * row_bytes;
    }
    mpi::exchange(*group_, to_ranks, from_ranks);
}

void Communicator::broadcast(std::span<std::byte> values, int root) const {
    if (size_ > 1) mpi::broadcast(*group_, values.data(), values.size(), root);
}

void Communicator::send(std::span<const std::byte> values, int to) const {
    mpi::send(*group_, values.data(), static_cast<int>(values.size()), to);
}

void Communicator::receive(std::span<std::byte> values, int from) const {
    mpi::receive(*group_, values.data(), static_cast<int>(values.size()), from);
}

void Communicator::barrier() const {
    if (size_ > 1) mpi::barrier(*group_);
}

void Communicator::leave() const {
    if (group_) mpi::leave(*group_);
}

std::int64_t Communicator::bytes_sent() const {
    return group_ ? mpi::bytes_sent(*group_) : 0;
}

std::string text_of_rank(const Communicator& ranks, int rank, std::string text) {
    auto size = static_cast<std::int64_t>(text.size());
    ranks.broadcast(std::as_writable_bytes(std::span(&size, 1)), rank);
    text.resize(static_cast<std::size_t>(size));
    ranks.broadcast(std::as_writable_bytes(std::span(text)), rank);
    return text;
}

}  // namespace deft::engine
