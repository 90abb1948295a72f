// Communication between ranks, on as many as were started.

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "base/error.h"
#include "engine/comm/on_first_rank.h"
#include "engine/comm/require_same.h"
#include "tests/catch.h"
#include "tests/ranks/all_ranks.h"
#include "tests/ranks/rank_values.h"

using namespace deft::engine;
using deft::test::all_ranks;
using deft::test::sum_in_order;
using deft::test::values_of_rank;

namespace {

template <class Real>
void check_all_reduce(const Communicator& ranks, std::int64_t count) {
    std::vector<Real> values = values_of_rank<Real>(ranks.rank(), count);
    const std::int64_t before = ranks.bytes_sent();
    ranks.all_reduce(std::span(values));
    CHECK(values == sum_in_order<Real>(ranks.size(), count));
    // Its values of other ranks' shares to those, and the sums of its own share to all others.
    const std::int64_t own = share_of(count, ranks.rank(), ranks.size()).size();
    const std::int64_t sent = ranks.size() == 1 ? 0 : count - own + own * (ranks.size() - 1);
    CHECK(ranks.bytes_sent() - before == sent * static_cast<std::int64_t>(sizeof(Real)));
}

template <class Real>
void check_shares(const Communicator& ranks, std::int64_t count) {
    const std::vector<Real> before = values_of_rank<Real>(ranks.rank(), count);
    const std::vector<Real> sums = sum_in_order<Real>(ranks.size(), count);
    std::vector<Real> values = before;
    ranks.reduce_scatter(std::span(values));
    const Share own = share_of(count, ranks.rank(), ranks.size());
    std::vector<Real> expected = before;
    std::copy(sums.begin() + own.begin, sums.begin() + own.end, expected.begin() + own.begin);
    CHECK((values == expected));
    ranks.all_gather(std::span(values));
    CHECK((values == sums));
}

// In ranges that are begun one after the other, in no order, and are empty, within a share, and across shares.
template <class Real>
void check_ranges(const Communicator& ranks, std::int64_t count) {
    const std::vector<Real> before = values_of_rank<Real>(ranks.rank(), count);
    const std::vector<Real> sums = sum_in_order<Real>(ranks.size(), count);
    const Share own = share_of(count, ranks.rank(), ranks.size());
    std::vector<Real> values = before, expected = before;
    const std::int64_t cut = count / 5, other = count / 2 + 1;
    for (const Share& range : {Share{other, count}, Share{cut, cut}, Share{0, cut}}) {
        ranks.begin_reduce_scatter(std::span(values), range);
        const Share summed = common_part(range, own);
        std::copy(sums.begin() + summed.begin, sums.begin() + summed.begin + summed.size(),
                  expected.begin() + summed.begin);
    }
    ranks.finish();
    CHECK((values == expected));
}

}  // namespace

TEST_CASE("shares are contiguous, even and whole") {
    for (const int ranks : {1, 2, 3, 7})
        for (const std::int64_t count : {0, 1, 2, 6, 100}) {
            std::int64_t at = 0;
            for (int r = 0; r < ranks; ++r) {
                const Share share = share_of(count, r, ranks);
                CHECK(share.begin == at);
                CHECK(share.size() >= count / ranks);
                CHECK(share.size() <= (count + ranks - 1) / ranks);
                at = share.end;
            }
            CHECK(at == count);
        }
}

TEST_CASE("a sum over ranks is taken in their order, to the bit, and its payload is known") {
    const Communicator& ranks = all_ranks();
    for (const std::int64_t count : {0, 1, 2, 7, 1000, (1 << 20) + 5}) {
        check_all_reduce<float>(ranks, count);
        check_all_reduce<double>(ranks, count);
        check_all_reduce<std::int64_t>(ranks, count);
    }
}

TEST_CASE("two parts of a range have in common what is in both") {
    const auto common = [](const Share& a, const Share& b) {
        const Share part = common_part(a, b);
        return std::pair(part.begin, part.size());
    };
    CHECK(common({2, 7}, {5, 9}) == std::pair(std::int64_t{5}, std::int64_t{2}));
    CHECK(common({5, 9}, {2, 7}) == std::pair(std::int64_t{5}, std::int64_t{2}));
    CHECK(common({2, 9}, {4, 5}) == std::pair(std::int64_t{4}, std::int64_t{1}));
    CHECK(common({2, 4}, {4, 9}).second == 0);
    CHECK(common({6, 9}, {2, 4}).second == 0);
}

TEST_CASE("a rank has the sums of its share, and shares are gathered") {
    for (const std::int64_t count : {1, 5, 1000, (1 << 20) + 5}) {
        check_shares<float>(all_ranks(), count);
        check_shares<double>(all_ranks(), count);
    }
}

TEST_CASE("what one rank sends another receives, in its order") {
    const Communicator& ranks = all_ranks();
    const auto value = [](int from, int i) { return static_cast<std::byte>(from * 50 + i); };
    const std::int64_t before = ranks.bytes_sent();
    if (ranks.rank() > 0)
        for (int i = 1; i < 4; ++i)
            ranks.send(std::vector<std::byte>(static_cast<std::size_t>(i), value(ranks.rank(), i)), 0);
    CHECK(ranks.bytes_sent() - before == (ranks.rank() > 0 ? 1 + 2 + 3 : 0));
    if (ranks.rank() > 0) return;
    for (int from = ranks.size() - 1; from > 0; --from)
        for (int i = 1; i < 4; ++i) {
            std::vector<std::byte> values(static_cast<std::size_t>(i));
            ranks.receive(values, from);
            CHECK(values == std::vector<std::byte>(static_cast<std::size_t>(i), value(from, i)));
        }
}

TEST_CASE("rows go to the rank that they are for, and their bytes are counted") {
    const Communicator& ranks = all_ranks();
    constexpr std::int64_t C = 3;
    const auto rows_to = [&](int from, int to) { return std::int64_t{(from * 2 + to * 3) % 4}; };  // some are none
    const auto value = [](int from, int to, std::int64_t i) { return static_cast<float>(from * 10000 + to * 100 + i); };
    std::vector<std::int64_t> sent, received;
    std::vector<float> rows, expected;
    std::int64_t leaving = 0;
    for (int other = 0; other < ranks.size(); ++other) {
        sent.push_back(rows_to(ranks.rank(), other));
        received.push_back(rows_to(other, ranks.rank()));
        for (std::int64_t i = 0; i < sent.back() * C; ++i) rows.push_back(value(ranks.rank(), other, i));
        for (std::int64_t i = 0; i < received.back() * C; ++i) expected.push_back(value(other, ranks.rank(), i));
        if (other != ranks.rank()) leaving += sent.back() * C * 4;
    }
    std::vector<float> into(expected.size());
    const std::int64_t before = ranks.bytes_sent();
    ranks.all_to_all(std::as_bytes(std::span(rows)), sent, std::as_writable_bytes(std::span(into)), received,
                     C * static_cast<std::int64_t>(sizeof(float)));
    CHECK(into == expected);
    CHECK(ranks.bytes_sent() - before == leaving);
}

TEST_CASE("ranks split by color, and each part sums by itself") {
    const Communicator& ranks = all_ranks();
    const Communicator part = ranks.split(ranks.rank() % 2);
    int members = 0;
    std::vector<double> expected(3, 0.0);
    for (int r = ranks.rank() % 2; r < ranks.size(); r += 2, ++members)
        for (std::size_t i = 0; i < 3; ++i) expected[i] += r + static_cast<double>(i);
    CHECK(part.size() == members);
    CHECK(part.rank() == ranks.rank() / 2);
    std::vector<double> values = {ranks.rank() + 0.0, ranks.rank() + 1.0, ranks.rank() + 2.0};
    part.all_reduce(std::span(values));
    CHECK(values == expected);
}

TEST_CASE("what one rank knows is broadcast") {
    const Communicator& ranks = all_ranks();
    for (int root = 0; root < ranks.size(); ++root) {
        std::vector<std::byte> values(5, static_cast<std::byte>(ranks.rank() + 1));
        const std::int64_t before = ranks.bytes_sent();
        ranks.broadcast(values, root);
        CHECK(values == std::vector<std::byte>(5, static_cast<std::byte>(root + 1)));
        CHECK(ranks.bytes_sent() - before == (ranks.rank() == root ? 5 * (ranks.size() - 1) : 0));
    }
    ranks.barrier();
}

TEST_CASE("what rank 0 does alone is done once, and fails on every rank with its words") {
    const Communicator& ranks = all_ranks();
    std::int64_t done = 0;
    on_first_rank(ranks, [&] { ++done; });
    ranks.all_reduce(std::span(&done, 1));
    CHECK(done == 1);
    const auto fails_with = [&](const auto& thrown, deft::ErrorKind kind, const std::string& what) {
        try {
            on_first_rank(ranks, [&] { throw thrown; });
            FAIL("nothing was thrown");
        } catch (const deft::Error& error) {
            CHECK(error.kind() == kind);
            CHECK(std::string(error.what()) == what);
        }
    };
    fails_with(deft::Error(deft::ErrorKind::io, "disk full", "make room"), deft::ErrorKind::io,
               deft::Error(deft::ErrorKind::io, "disk full", "make room").what());
    if (ranks.size() == 1) return;  // alone nothing is translated
    fails_with(std::bad_alloc(), deft::ErrorKind::memory, "out of memory");
    fails_with(std::runtime_error("a defect"), deft::ErrorKind::io, "a defect");
}

TEST_CASE("rank 0 decides for all, and a difference between ranks is reported on each, naming both") {
    const Communicator& ranks = all_ranks();
    CHECK(decided_by_first(ranks, ranks.rank() == 0));
    CHECK(!decided_by_first(ranks, ranks.rank() != 0));
    CHECK_NOTHROW(require_same(ranks, "the data", "abc", "fix it"));
    const auto other = [&] { require_same(ranks, "the data", ranks.rank() < 1 ? "abc" : "xy", "fix it"); };
    if (ranks.size() == 1)
        CHECK_NOTHROW(other());
    else
        CHECK_THROWS_WITH(
            other(),
            ContainsSubstring("the data is not the same on all ranks: on rank 0 it is abc, on rank 1 it is xy") &&
                ContainsSubstring("fix it"));
}

TEST_CASE("sums of ranges that are begun leave the rest as it is, whatever they are cut into") {
    for (const std::int64_t count : {3, 10, 1001, 1 << 20}) {
        check_ranges<float>(all_ranks(), count);
        check_ranges<double>(all_ranks(), count);
    }
}

TEST_CASE("a sum that one rank has begun keeps it from nothing, though no other rank has") {
    const Communicator& ranks = all_ranks();
    const Communicator values_of = ranks.split(0);
    std::vector<float> values = values_of_rank<float>(ranks.rank(), 1 << 20);
    const Share all{0, 1 << 20};
    if (ranks.rank() == 0) values_of.begin_reduce_scatter(std::span(values), all);
    ranks.barrier();  // which rank 0 would never reach
    if (ranks.rank() > 0) values_of.begin_reduce_scatter(std::span(values), all);
    values_of.finish();
    values_of.all_gather(std::span(values));
    CHECK((values == sum_in_order<float>(ranks.size(), 1 << 20)));
}
