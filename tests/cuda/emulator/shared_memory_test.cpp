// Shared memory: a place for each array of a block, NaN at first, zones that notice a write outside.

#include <cmath>
#include <cstdint>
#include <set>
#include <string>

#include "kernels/bf16.h"
#include "kernels/device.h"
#include "tests/catch.h"
#include "tests/cuda/emulator/reported.h"

namespace deft::kernels::cuda {
namespace {

using emulator::Misuse;

template <class Item>
Item* array_of_type() {
    DEFT_SHARED(Item, items, 4);
    return items;
}

TEST_CASE("an array is the same for all threads of a block, and new in the next block") {
    emulator::run("counts", 3, 64, 0, [] {
        DEFT_SHARED(int, count, 1);
        if (threadIdx.x == 0) count[0] = 0;
        __syncthreads();
        atomicAdd(count, 1);
        __syncthreads();
        CHECK(count[0] == 64);
    });
}

TEST_CASE("each declaration and each instantiation is an array of its own, each call the same") {
    emulator::run("places", 1, 1, 16, [] {
        DEFT_SHARED(double, first, 3);
        DEFT_SHARED(double, second, 3);
        DEFT_DYNAMIC_SHARED(double, third);
        const std::set<void*> places{first, second, third, array_of_type<float>(), array_of_type<int>()};
        CHECK(places.size() == 5);
        CHECK(array_of_type<float>() == array_of_type<float>());
        for (void* const place : places) CHECK(reinterpret_cast<std::uintptr_t>(place) % 16 == 0);
        static_assert(sizeof(first) == 3 * sizeof(double));
    });
}

TEST_CASE("what nobody wrote is NaN in every floating type") {
    int read = 0;
    for (int round = 0; round < 2; ++round)
        emulator::run("reader", 2, 8, 4 * sizeof(double), [&] {
            DEFT_SHARED(float, floats, 8);
            DEFT_SHARED(bf16, halves, 8);
            DEFT_DYNAMIC_SHARED(double, doubles);
            for (const double value :
                 {double{floats[threadIdx.x]}, double{to_float(halves[threadIdx.x])}, doubles[threadIdx.x % 4]}) {
                CHECK(std::isnan(value));
                ++read;
            }
            __syncthreads();
            floats[threadIdx.x] = 1;
            halves[threadIdx.x] = to_bf16(1);
            doubles[threadIdx.x % 4] = 1;
        });
    CHECK(read == 2 * 2 * 8 * 3);
}

TEST_CASE("a write outside an array is reported with the array's line") {
    const int line = __LINE__ + 4;
    const auto write_at = [](int index) {
        return misuse_of([&] {
            emulator::run("writer", 1, 32, 64, [&] {
                DEFT_SHARED(float, items, 32);
                int* volatile at = reinterpret_cast<int*>(items) + index;
                if (threadIdx.x == 5) *at = 7;
            });
        });
    };
    const std::string place = "tests/cuda/emulator/shared_memory_test.cpp:" + std::to_string(line);
    CHECK(write_at(0) == "nothing was reported");
    CHECK(write_at(31) == "nothing was reported");
    for (const int index : {32, 50}) {
        CHECK_THAT(write_at(index), ContainsSubstring("kernel writer, block 0: shared memory was written outside"));
        CHECK_THAT(write_at(index), ContainsSubstring("4 bytes after the array of 128 bytes at " + place));
    }
    CHECK_THAT(write_at(-1), ContainsSubstring("after the dynamic array of 64 bytes or before the array of 128"));
}

TEST_CASE("a write outside the dynamic array is reported") {
    const auto write = [](std::size_t bytes, int index) {
        emulator::run("writer", 1, 1, bytes, [&] {
            DEFT_DYNAMIC_SHARED(float, items);
            float* volatile at = items + index;
            *at = 0;
        });
    };
    CHECK_NOTHROW(write(40, 9));
    CHECK_THROWS_AS(write(40, 10), Misuse);
    CHECK_THROWS_AS(write(40, -1), Misuse);
    CHECK_THROWS_AS(write(0, 0), Misuse);
}

template <int n>
void use_floats() {
    DEFT_SHARED(float, items, n);
    items[n - 1] = 1;
}

TEST_CASE("more static shared memory than a device has is refused") {
    CHECK_NOTHROW(emulator::run("full", 1, 1, 0, use_floats<12288>));
    CHECK_THROWS_AS(emulator::run("over", 1, 1, 0, use_floats<12289>), Misuse);
    CHECK_THROWS_AS(emulator::run("over", 1, 1, 0, [] { use_floats<12000>(), use_floats<300>(); }), Misuse);
}

TEST_CASE("more shared memory than an architecture has is refused, and the architecture named") {
    constexpr std::size_t kKiB = 1024, kStatic = 256 * sizeof(float);
    const auto excess_of = [](std::size_t dynamic_bytes) {
        return misuse_of([&] { emulator::run("large", 1, 1, dynamic_bytes, use_floats<256>); });
    };
    CHECK(excess_of(99 * kKiB - kStatic) == "nothing was reported");
    CHECK(
        excess_of(99 * kKiB - kStatic + 1) ==
        "kernel large, block 0: 101377 bytes of shared memory: sm_86 has 101376, sm_89 has 101376, sm_120 has 101376");
    CHECK_THAT(excess_of(163 * kKiB), ContainsSubstring("sm_80 has 166912") && !ContainsSubstring("sm_90"));
    CHECK_THAT(excess_of(227 * kKiB), ContainsSubstring("sm_90 has 232448"));
    emulator::forget_kernels();
    CHECK(excess_of(100) == "nothing was reported");
    CHECK(emulator::kernels_run()["large"].shared_bytes == 100 + kStatic);
}

}  // namespace
}  // namespace deft::kernels::cuda
