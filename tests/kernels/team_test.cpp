#include "kernels/cpu/team.h"

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/cpu/parallel.h"
#include "tests/catch.h"

namespace deft::kernels::cpu {
namespace {

TEST_CASE("each item of a job runs once, on one of the job's threads") {
    for (const int threads : {4, 2, 7, 3})
        for (const std::int64_t items : {1, 2, 3, 63, 64, 1001, 100'003}) {
            std::vector<int> runs(static_cast<std::size_t>(items));
            std::atomic<bool> is_thread_of_job = true;
            parallel_items(threads, items, [&](std::int64_t item, int thread) {
                ++runs[static_cast<std::size_t>(item)];
                if (thread < 0 || thread >= threads) is_thread_of_job = false;
            });
            CHECK(runs == std::vector<int>(runs.size(), 1));
            CHECK(is_thread_of_job);
        }
}

TEST_CASE("a thread that is late leaves its other blocks to the rest of the team") {
    constexpr std::int64_t kItems = 16;
    std::atomic<std::int64_t> others = 0;
    std::atomic<bool> is_one_late = false;
    // A static split would give half of the items to the late thread, which waits for all the others.
    parallel_items(2, kItems, [&](std::int64_t, int) {
        if (!is_one_late.exchange(true))
            while (others < kItems - 1) std::this_thread::yield();
        else
            ++others;
    });
    CHECK(others == kItems - 1);
}

TEST_CASE("the first exception of a job reaches its caller, and the next job runs") {
    const auto run = [](std::int64_t bad) {
        std::atomic<std::int64_t> done = 0;
        parallel_items(3, 300, [&](std::int64_t item, int) {
            if (item == bad) throw std::runtime_error("item");
            ++done;
        });
        return done.load();
    };
    CHECK_THROWS_AS(run(0), std::runtime_error);
    CHECK_THROWS_AS(run(299), std::runtime_error);
    CHECK(run(-1) == 300);
}

TEST_CASE("a job inside a job runs on its caller alone") {
    std::atomic<std::int64_t> inner = 0;
    std::atomic<bool> is_alone = true;
    parallel_items(2, 8, [&](std::int64_t, int) {
        const std::thread::id caller = std::this_thread::get_id();
        parallel_items(2, 8, [&](std::int64_t, int thread) {
            ++inner;
            if (thread != 0 || std::this_thread::get_id() != caller) is_alone = false;
        });
    });
    CHECK(inner == 64);
    CHECK(is_alone);
}

TEST_CASE("callers on several threads have a team each") {
    std::vector<std::int64_t> sums(4);
    std::vector<std::thread> callers;
    for (std::size_t i = 0; i < sums.size(); ++i)
        callers.emplace_back([&sum = sums[i]] {
            for (int job = 0; job < 200; ++job) {
                std::atomic<std::int64_t> items = 0;
                parallel_items(2, 100, [&](std::int64_t item, int) { items += item; });
                sum += items;
            }
        });
    for (std::thread& caller : callers) caller.join();
    CHECK(sums == std::vector<std::int64_t>(4, 200 * 4950));
}

}  // namespace
}  // namespace deft::kernels::cpu
