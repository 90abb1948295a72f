// Each word of kernel source means what it means on a device.

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "tests/catch.h"
#include "tests/cuda/emulator/reported.h"

namespace deft::kernels::cuda {
namespace {

constexpr int kThreads = 96;  // three warps: a lane is not a thread's number

// The value that every thread of one block computes from its number.
template <class Item, class Body>
std::array<Item, kThreads> each_thread(const Body& body) {
    std::array<Item, kThreads> result{};
    emulator::run("each_thread", 1, kThreads, 0, [&] { result[threadIdx.x] = body(static_cast<int>(threadIdx.x)); });
    return result;
}

TEST_CASE("threads and blocks have their places") {
    std::set<std::pair<unsigned, unsigned>> seen;
    emulator::run("places", 5, 7, 0, [&] {
        CHECK(gridDim.x == 5);
        CHECK(blockDim.x == 7);
        CHECK(seen.insert({blockIdx.x, threadIdx.x}).second);
    });
    CHECK(seen.size() == 35);
    CHECK(seen.rbegin()->first == 4);
    CHECK(seen.rbegin()->second == 6);
}

TEST_CASE("shuffles read the lane that the guide names, in every warp and width") {
    for (const int width : {32, 16, 8, 2, 1}) {
        INFO("width " << width);
        // The thread whose value thread t gets, of those in its warp; groups are `width` lanes.
        const auto group = [&](int t) { return t / width * width; };
        const auto expect = [&](auto result, auto from) {
            for (int t = 0; t < kThreads; ++t) {
                INFO("thread " << t);
                CHECK(result[static_cast<std::size_t>(t)] == 1000 + from(t));
            }
        };
        for (const int n : {0, 1, 3, 7, 31}) {
            INFO("argument " << n);
            const auto unsigned_n = static_cast<unsigned>(n);
            expect(each_thread<int>([&](int t) { return __shfl_sync(kAll, 1000 + t, n, width); }),
                   [&](int t) { return group(t) + n % width; });
            expect(each_thread<int>([&](int t) { return __shfl_up_sync(kAll, 1000 + t, unsigned_n, width); }),
                   [&](int t) { return t - n >= group(t) ? t - n : t; });
            expect(each_thread<int>([&](int t) { return __shfl_down_sync(kAll, 1000 + t, unsigned_n, width); }),
                   [&](int t) { return t + n < group(t) + width ? t + n : t; });
            // Groups before the own one may be read.
            expect(each_thread<int>([&](int t) { return __shfl_xor_sync(kAll, 1000 + t, n, width); }), [&](int t) {
                const int other = t / 32 * 32 + ((t % 32) ^ n);
                return other < group(t) + width ? other : t;
            });
        }
    }
}

TEST_CASE("shuffles keep every bit of 4 and 8 byte types") {
    const auto floats =
        each_thread<float>([](int t) { return __shfl_xor_sync(kAll, 0.1f * static_cast<float>(t), 1); });
    const auto doubles = each_thread<double>([](int t) { return __shfl_xor_sync(kAll, 0.1 * t, 1); });
    const auto longs =
        each_thread<std::int64_t>([](int t) { return __shfl_xor_sync(kAll, -(std::int64_t{1} << t / 2), 1); });
    for (int t = 0; t < kThreads; ++t) {
        const auto i = static_cast<std::size_t>(t);
        CHECK(floats[i] == 0.1f * static_cast<float>(t ^ 1));
        CHECK(doubles[i] == 0.1 * (t ^ 1));
        CHECK(longs[i] == -(std::int64_t{1} << t / 2));
    }
}

TEST_CASE("a part of a warp shuffles by itself") {
    const auto result = each_thread<int>([](int t) {
        if (t % 32 < 8) return __shfl_xor_sync(0xffu, t, 4);
        return t % 32 < 24 ? __shfl_sync(0x00ffff00u, t, 9) : -1;
    });
    for (int t = 0; t < kThreads; ++t) {
        const int lane = t % 32, expected = lane < 8 ? t ^ 4 : lane < 24 ? t / 32 * 32 + 9 : -1;
        CHECK(result[static_cast<std::size_t>(t)] == expected);
    }
}

TEST_CASE("votes") {
    const auto odd = each_thread<unsigned>([](int t) { return __ballot_sync(kAll, t % 2); });
    const auto one_warp = each_thread<unsigned>([](int t) { return __ballot_sync(kAll, t / 32 == 1); });
    const auto part = each_thread<unsigned>([](int t) { return t % 32 < 4 ? __ballot_sync(0xfu, t != 34) : 0; });
    const auto any = each_thread<int>([](int t) { return __any_sync(kAll, t == 40); });
    const auto all = each_thread<int>([](int t) { return __all_sync(kAll, t != 40); });
    for (int t = 0; t < kThreads; ++t) {
        INFO("thread " << t);
        const auto i = static_cast<std::size_t>(t);
        CHECK(odd[i] == 0xaaaaaaaau);
        CHECK(one_warp[i] == (t / 32 == 1 ? kAll : 0));
        CHECK(part[i] == (t % 32 >= 4 ? 0 : t / 32 == 1 ? 0xbu : 0xfu));
        CHECK((any[i] != 0) == (t / 32 == 1));
        CHECK((all[i] != 0) == (t / 32 != 1));
    }
}

TEST_CASE("atomics return what was there and leave the result") {
    std::int32_t sum = 5, most = -100, least = 100;
    unsigned bits = 0, turns = 0, in_turn = 7;
    std::set<std::int32_t> before;
    emulator::run("atomics", 2, 64, 0, [&] {
        const auto i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
        CHECK(before.insert(atomicAdd(&sum, 1)).second);
        atomicMax(&most, i - 3);
        atomicMin(&least, i - 3);
        atomicOr(&bits, 1u << i % 20);
        atomicInc(&turns, 9);
        CHECK(atomicInc(&in_turn, 6) <= 7);
    });
    CHECK(sum == 133);
    CHECK(*before.begin() == 5);
    CHECK(*before.rbegin() == 132);
    CHECK(most == 124);
    CHECK(least == -3);
    CHECK(bits == 0xfffffu);
    CHECK(turns == 128 % 10);
    CHECK(in_turn == 127 % 7);  // 7 is more than the most: 0 comes first
}

TEST_CASE("bits and mathematics") {
    CHECK(__popc(0xf0f0u) == 8);
    CHECK(__clz(0) == 32);
    CHECK(__clz(-1) == 0);
    CHECK(__clz(1) == 31);
    CHECK(__ffs(0) == 0);
    CHECK(__ffs(8) == 4);
    CHECK(rsqrtf(16.0f) == 0.25f);
    CHECK_FALSE(isfinite(std::numeric_limits<float>::infinity()));
}

}  // namespace
}  // namespace deft::kernels::cuda
