// Schedules: seeded, reproducible, and enough to show what a missing barrier breaks; the record of what ran.

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "tests/catch.h"
#include "tests/cuda/emulator/tiny_kernels.h"

namespace deft::kernels::cuda {
namespace {

// Order in which (block, thread) came by, before and after a barrier.
std::vector<unsigned> trace(const emulator::Schedule& schedule) {
    std::vector<unsigned> steps;
    emulator::set_schedule(schedule);
    emulator::run("trace", 4, 64, 0, [&] {
        steps.push_back(blockIdx.x * 64 + threadIdx.x);
        __syncthreads();
        steps.push_back(blockIdx.x * 64 + threadIdx.x);
    });
    return steps;
}

TEST_CASE("a seed gives the same run again, another seed another one") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    const auto first = trace({true, seed});
    CHECK(trace({true, seed}) == first);
    CHECK(trace({true, seed + 1}) != first);
    CHECK(std::set<unsigned>(first.begin(), first.end()).size() == 256);
    emulator::set_schedule({});
}

TEST_CASE("without shuffling, blocks and threads go by number") {
    const auto steps = trace({false, 0});
    std::size_t i = 0;
    for (unsigned block = 0; block < 4; ++block)
        for (int half = 0; half < 2; ++half)
            for (unsigned thread = 0; thread < 64; ++thread) CHECK(steps[i++] == block * 64 + thread);
    emulator::set_schedule({});
}

// How many of 10 schedules give another result than the kernel should.
template <class Run>
int wrong_results(const Run& run) {
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        emulator::set_schedule({true, seed});
        wrong += !run();
    }
    emulator::set_schedule({});
    return wrong;
}

bool block_sum_is_right() {
    const std::vector<std::int32_t> in(3 * 500, 2);  // (3, 500)
    std::vector<std::int64_t> out(3);
    Exec exec;
    launch(exec, {"block_sum", 3, tiny::kThreads}, tiny::block_sum, out.data(), in.data(), 500);
    return out == std::vector<std::int64_t>(3, 1000);
}

bool reverse_is_right() {
    std::vector<std::int32_t> items(2 * tiny::kThreads), reversed;
    for (std::size_t i = 0; i < items.size(); ++i) {
        items[i] = static_cast<std::int32_t>(i);
        reversed.push_back(static_cast<std::int32_t>(i ^ 31));
    }
    Exec exec;
    launch(exec, {"reverse_in_warps", 2, tiny::kThreads}, tiny::reverse_in_warps, items.data());
    return items == reversed;
}

TEST_CASE("schedules show a missing barrier") {
    struct Case {
        const char* name;
        bool (*is_right)();
    };
    for (const auto& [name, is_right] :
         {Case{"block_sum", block_sum_is_right}, {"reverse_in_warps", reverse_is_right}}) {
        INFO(name);
        CHECK(wrong_results(is_right) == 0);
        const std::set<emulator::Barrier> barriers = emulator::kernels_run().at(name).barriers;
        REQUIRE(barriers.size() == 1);
        CHECK(barriers.begin()->file == "tests/cuda/emulator/tiny_kernels.h");
        emulator::skip_barrier(*barriers.begin());
        CHECK(wrong_results(is_right) > 0);
        emulator::skip_no_barrier();
        CHECK(wrong_results(is_right) == 0);
    }
}

TEST_CASE("launches, blocks and schedules are counted by kernel") {
    emulator::forget_kernels();
    const auto barrier = [] { __syncthreads(); };
    emulator::run("once", 3, 32, 0, [] {});
    for (const std::uint64_t seed : {1, 2}) {
        emulator::set_schedule({true, seed});
        for (int i = 0; i < 4; ++i) emulator::run("often", 5, 32, 0, barrier);
    }
    emulator::set_schedule({});
    const auto kernels = emulator::kernels_run();
    CHECK(kernels.size() == 2);
    CHECK(kernels.at("once").launches == 1);
    CHECK(kernels.at("once").blocks == 3);
    CHECK(kernels.at("once").schedules == 1);
    CHECK(kernels.at("once").barriers.empty());
    CHECK(kernels.at("often").launches == 8);
    CHECK(kernels.at("often").blocks == 40);
    CHECK(kernels.at("often").threads == 40 * 32);
    CHECK(kernels.at("often").schedules == 2);
    CHECK(kernels.at("often").barriers.size() == 1);
}

}  // namespace
}  // namespace deft::kernels::cuda
