// The emulator reports behaviour that a device leaves undefined, with kernel, block and lines.

#include <cstdint>
#include <stdexcept>
#include <string>

#include "tests/catch.h"
#include "tests/cuda/emulator/reported.h"

namespace deft::kernels::cuda {
namespace {

using emulator::Misuse;

template <class Body>
std::string wrong_launch(int threads, const Body& body, std::int64_t blocks = 1) {
    return misuse_of([&] { emulator::run("wrong", blocks, threads, 0, body); });
}

std::string here(int line) {
    return "tests/cuda/emulator/misuse_test.cpp:" + std::to_string(line);
}

// A barrier in a loop whose trip count differs between warps.
void sum_rows(int rows) {
    const int warps = static_cast<int>(blockDim.x) / 32;
    for (int row = static_cast<int>(threadIdx.x) / 32; row < rows; row += warps) __syncthreads();
}
constexpr int kLineOfSumRows = __LINE__ - 2;

TEST_CASE("a barrier in a loop with unequal trip counts is divergent") {
    CHECK_NOTHROW(emulator::run("even", 1, 256, 0, [] { sum_rows(16); }));
    const std::string text = wrong_launch(256, [] { sum_rows(18); });
    CHECK_THAT(text, ContainsSubstring("kernel wrong, block 0: divergent __syncthreads"));
    CHECK_THAT(text, ContainsSubstring("192 of 256 threads at its end"));
    CHECK_THAT(text, ContainsSubstring("64 of 256 threads at __syncthreads in " + here(kLineOfSumRows)));
}

TEST_CASE("two barriers in one round are divergent, though every thread is at one") {
    const int line = __LINE__ + 3;
    const std::string text = wrong_launch(64, [] {
        if (threadIdx.x < 32)
            __syncthreads();
        else
            __syncthreads();
    });
    CHECK_THAT(text, ContainsSubstring("divergent __syncthreads"));
    CHECK_THAT(text, ContainsSubstring("thread 0 waits at __syncthreads in " + here(line)));
    CHECK_THAT(text, ContainsSubstring("thread 32 at __syncthreads in " + here(line + 2)));
}

TEST_CASE("warps that wait for each other at different things are a deadlock") {
    const std::string text = wrong_launch(64, [] {
        if (threadIdx.x == 3) __syncthreads();
        __syncwarp();
        if (threadIdx.x != 3) __syncthreads();
    });
    CHECK_THAT(text, ContainsSubstring("deadlock"));
    CHECK_THAT(text, ContainsSubstring("31 of 64 threads at __syncwarp"));
}

TEST_CASE("a lane that has ended is missed") {
    const std::string text = wrong_launch(64, [] {
        if (threadIdx.x == 40) return;
        __shfl_xor_sync(kAll, 1, 1);
    });
    CHECK_THAT(text, ContainsSubstring("lanes missing from a warp's operation"));
    CHECK_THAT(text, ContainsSubstring("31 of 64 threads at a shuffle"));
    CHECK_THAT(text, ContainsSubstring("33 of 64 threads at its end"));
}

TEST_CASE("a lane that the block does not have is missed") {
    CHECK_THAT(wrong_launch(48, [] { __syncwarp(); }), ContainsSubstring("lanes missing"));
    CHECK_NOTHROW(emulator::run("half", 1, 48, 0, [] { __syncwarp(threadIdx.x < 32 ? kAll : 0xffffu); }));
}

TEST_CASE("lanes of one operation meet at one place with one mask") {
    CHECK_THAT(wrong_launch(32, [] { threadIdx.x < 16 ? __shfl_xor_sync(kAll, 1, 1) : __ballot_sync(kAll, 1); }),
               ContainsSubstring("divergent"));
    CHECK_THAT(wrong_launch(32, [] { __syncwarp(threadIdx.x == 0 ? 0x3u : kAll); }), ContainsSubstring("divergent"));
}

TEST_CASE("a thread must be among the lanes that it names, and so must the lane that it reads") {
    CHECK_THAT(wrong_launch(32, [] { __syncwarp(0xfu); }), ContainsSubstring("not among the lanes"));
    const std::string text = wrong_launch(32, [] {
        if (threadIdx.x < 4) __shfl_sync(0xfu, 1, 5);
    });
    CHECK_THAT(text, ContainsSubstring("reads lane 5, which takes no part"));
}

TEST_CASE("a launch that no device takes is refused") {
    const auto nothing = [] {};
    CHECK_THROWS_AS(emulator::run("wrong", 1, 0, 0, nothing), Misuse);
    CHECK_THROWS_AS(emulator::run("wrong", 1, 1025, 0, nothing), Misuse);
    CHECK_THROWS_AS(emulator::run("wrong", -1, 32, 0, nothing), Misuse);
    CHECK_THROWS_AS(emulator::run("wrong", std::int64_t{1} << 31, 32, 0, nothing), Misuse);
    CHECK_THAT(wrong_launch(1, [&] { emulator::run("inner", 1, 1, 0, nothing); }),
               ContainsSubstring("kernel inner is launched by a kernel"));
}

TEST_CASE("what a thread throws comes out of the launch, and the next launch is a fresh one") {
    for (int round = 0; round < 3; ++round) {
        int reached = 0;
        const auto thrower = [&] {
            __syncthreads();
            if (threadIdx.x == 70 && blockIdx.x == 1) throw std::out_of_range("thread 70");
            __syncthreads();
            ++reached;
        };
        CHECK_THROWS_WITH(emulator::run("thrower", 2, 128, 0, thrower), "thread 70");
        CHECK((reached == 0 || reached == 128));
        int total = 0;
        emulator::run("adder", 2, 128, 0, [&] {
            __syncthreads();
            ++total;
        });
        CHECK(total == 256);
    }
}

}  // namespace
}  // namespace deft::kernels::cuda
