#include "engine/comm/communicator.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/comm/mpi.h"
#include "kernels/ceil_div.h"

namespace deft::engine {

namespace {

using kernels::ceil_div;

// Values of all ranks that one exchange carries at most.
constexpr std::int64_t kAtOnce = std::int64_t{1} << 20;

// Of pieces that stand one behind the other.
mpi::Pieces pieces_of(const std::vector<std::int64_t>& bytes) {
    mpi::Pieces pieces;
    std::int64_t start = 0;
    for (const std::int64_t of_rank : bytes) {
        pieces.count.push_back(static_cast<int>(of_rank));
        pieces.start.push_back(static_cast<int>(start));
        start += of_rank;
        if (start > std::numeric_limits<int>::max()) throw std::logic_error("more than 2 GiB in one exchange between ranks");
    }
    return pieces;
}

// Values of which each rank has a share. They are carried in blocks: the same part of every share at once.
template <class Real>
class SharedValues {
 public:
    SharedValues(mpi::Group& group, int rank, int ranks, std::span<Real> values)
        : group_(group), rank_(rank), ranks_(ranks), values_(values), of_block_(std::max<std::int64_t>(1, kAtOnce / ranks)) {
        const std::int64_t largest = ceil_div(count(), std::int64_t{ranks});
        blocks_ = ceil_div(largest, of_block_);
    }

    std::int64_t blocks() const { return blocks_; }

    // This rank's part of the block = its sum over ranks.
    void sum(std::int64_t block) {
        std::vector<std::int64_t> sent;
        from_.clear();
        for (int r = 0; r < ranks_; ++r) {
            const Share part = part_of(r, block);
            from_.insert(from_.end(), values_.begin() + part.begin, values_.begin() + part.end);
            sent.push_back(part.size() * kBytes);
        }
        const Share own = part_of(rank_, block);
        to_.resize(static_cast<std::size_t>(own.size() * ranks_));  // (ranks, own)
        exchange(pieces_of(sent), pieces_of(std::vector<std::int64_t>(rank_count(), own.size() * kBytes)));
        for (std::int64_t i = 0; i < own.size(); ++i) {
            Real sum = to_[static_cast<std::size_t>(i)];
            for (int r = 1; r < ranks_; ++r) sum += to_[static_cast<std::size_t>(r * own.size() + i)];
            values_[static_cast<std::size_t>(own.begin + i)] = sum;
        }
    }

    // Every rank's part of the block, put in place on all.
    void gather(std::int64_t block) {
        const Share own = part_of(rank_, block);
        from_.assign(values_.begin() + own.begin, values_.begin() + own.end);
        mpi::Pieces to_all;
        to_all.count.assign(rank_count(), static_cast<int>(own.size() * kBytes));
        to_all.start.assign(rank_count(), 0);
        std::vector<std::int64_t> received;
        std::int64_t of_all = 0;
        for (int r = 0; r < ranks_; ++r) {
            received.push_back(part_of(r, block).size() * kBytes);
            of_all += part_of(r, block).size();
        }
        to_.resize(static_cast<std::size_t>(of_all));
        exchange(to_all, pieces_of(received));
        auto at = to_.begin();
        for (int r = 0; r < ranks_; ++r) {
            const Share part = part_of(r, block);
            std::copy_n(at, part.size(), values_.begin() + part.begin);
            at += part.size();
        }
    }

 private:
    static constexpr std::int64_t kBytes = sizeof(Real);

    std::int64_t count() const { return static_cast<std::int64_t>(values_.size()); }
    std::size_t rank_count() const { return static_cast<std::size_t>(ranks_); }
    Share part_of(int r, std::int64_t block) const {
        const Share share = share_of(count(), r, ranks_);
        return {std::min(share.end, share.begin + block * of_block_), std::min(share.end, share.begin + (block + 1) * of_block_)};
    }
    void exchange(const mpi::Pieces& sent, const mpi::Pieces& received) {
        mpi::exchange(group_, reinterpret_cast<const std::byte*>(from_.data()), sent, reinterpret_cast<std::byte*>(to_.data()),
                      received);
    }

    mpi::Group& group_;
    int rank_, ranks_;
    std::span<Real> values_;
    std::int64_t of_block_, blocks_ = 0;
    std::vector<Real> from_, to_;
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
    const auto bytes = [&](std::span<const std::int64_t> counts) {
        std::vector<std::int64_t> all;
        for (const std::int64_t count : counts) all.push_back(count * row_bytes);
        return pieces_of(all);
    };
    mpi::exchange(*group_, rows.data(), bytes(sent), into.data(), bytes(received));
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

}  // namespace deft::engine
