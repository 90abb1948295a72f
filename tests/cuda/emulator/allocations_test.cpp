// Device memory that a kernel reads or writes outside of is reported with the kernel's and the buffer's name.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/cuda/runtime.h"
#include "kernels/cuda/vector.h"
#include "tests/catch.h"
#include "tests/cuda/emulator/reported.h"

namespace deft::kernels::cuda {
namespace {

using emulator::Misuse;

// The accesses of thread 5 of a kernel.
template <class Body>
std::string fifth_thread(const Body& body) {
    return misuse_of([&] {
        emulator::run("walker", 1, 32, 0, [&] {
            if (threadIdx.x == 5) body();
        });
    });
}

struct Buffer {
    Context context;
    DeviceMemory memory;
    explicit Buffer(std::size_t bytes) : memory(allocate(bytes, "dy")) {}
    volatile std::int32_t* words() const { return static_cast<std::int32_t*>(memory.get()); }
};

TEST_CASE("a read or write past a buffer's last page ends the launch, and the next one is a fresh one") {
    const Buffer dy(1024);
    for (int round = 0; round < 3; ++round) {
        CHECK(fifth_thread([&] { dy.words()[255] = dy.words()[0]; }) == "nothing was reported");
        CHECK(fifth_thread([&] { dy.words()[0] = dy.words()[256]; }) ==
              "kernel walker, block 0: thread 5 reads byte 1024 of dy, which has 1024");
        CHECK(fifth_thread([&] { dy.words()[257] = 1; }) ==
              "kernel walker, block 0: thread 5 writes byte 1028 of dy, which has 1024");
        CHECK(fifth_thread([&] { dy.words()[-1024] = 1; }) ==
              "kernel walker, block 0: thread 5 writes 4096 bytes before dy");
    }
    volatile std::int32_t* const nowhere = nullptr;
    CHECK(fifth_thread([&] { dy.words()[0] = *nowhere; }) ==
          "kernel walker, block 0: thread 5 reads address 0x0, where the device has no memory");
}

TEST_CASE("memory between a buffer's end and the next page is huge in every type") {
    const Buffer dy(1000);
    unsigned char after[24];
    for (int i = 0; i < 24; ++i) after[i] = static_cast<unsigned char*>(dy.memory.get())[1000 + i];
    const auto read = [&]<class Item>(Item item) {
        std::memcpy(&item, after, sizeof item);
        return item;
    };
    CHECK(to_float(read(bf16{})) > 1e38f);
    CHECK(read(float{}) > 1e38f);
    CHECK(read(double{}) > 1e300);
    CHECK(read(std::int32_t{}) > 2'000'000'000);
    CHECK(read(std::int64_t{}) > std::int64_t{1} << 62);
}

TEST_CASE("a write into it is reported when the launch ends") {
    const Buffer dy(1000);
    CHECK(fifth_thread([&] { dy.words()[249] = 7; }) == "nothing was reported");
    CHECK(fifth_thread([&] { dy.words()[250] = 7; }) ==
          "kernel walker: memory was written outside its buffers: 4 bytes after the 1000 of dy");
    const Buffer y(16);
    CHECK_THAT(fifth_thread([&] { y.words()[-1] = 7; }), ContainsSubstring("4 bytes before the 16 of dy"));
}

TEST_CASE("a wide access to an address that is not a multiple of it is reported") {
    const Buffer dy(1024);
    const auto* const floats = static_cast<const float*>(dy.memory.get());
    float to[4];
    CHECK(fifth_thread([&] { load(to, floats + 4); }) == "nothing was reported");
    CHECK(fifth_thread([&] { load(to, floats + 5); }) ==
          "kernel walker, block 0: thread 5 moves 16 bytes at once, which begin at byte 20 of dy, which has 1024");
    CHECK_THAT(fifth_thread([&] { store(static_cast<float*>(dy.memory.get()) + 2, to); }),
               ContainsSubstring("begin at byte 8 of dy"));
    CHECK(fifth_thread([&] { load<1>(reinterpret_cast<float(&)[1]>(to), floats + 5); }) == "nothing was reported");
}

TEST_CASE("nothing is allocated before the device is chosen") {
    CHECK_THROWS_AS(allocate(16, "too early"), std::logic_error);
    CHECK_THROWS_AS(allocate_pinned(16), std::logic_error);
    const Context context;
    CHECK(DeviceMemory(allocate(16)) != nullptr);
}

}  // namespace
}  // namespace deft::kernels::cuda
