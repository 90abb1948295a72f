#include "tests/cuda_traffic/traffic.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/cuda/emulator/allocations.h"
#include "kernels/cuda/emulator/block.h"
#include "kernels/cuda/emulator/warp.h"

namespace deft::kernels::cuda::traffic {

namespace {

using emulator::Block;

// A sector that a warp touches the nth time it comes to a place of the code. Lanes that skip a loop's pass shift their
// count; kernels with such loops are counted approximately.
struct Touch {
    std::int64_t place, pass;
    unsigned warp;
    std::uintptr_t sector;
    bool writes, is_wide;
    auto operator<=>(const Touch&) const = default;
};

// The accesses of the running block.
struct Counter {
    std::map<std::string, KernelTraffic> kernels;
    std::string kernel;
    unsigned block = 0;
    std::vector<Touch> touches;
    std::unordered_map<const void*, std::int64_t> places;
    std::vector<std::vector<std::int64_t>> passes;  // by thread and place

    void finish_block() {
        if (passes.empty()) return;
        std::sort(touches.begin(), touches.end());
        touches.erase(std::unique(touches.begin(), touches.end()), touches.end());
        KernelTraffic& traffic = kernels[kernel];
        for (const Touch& touch : touches) {
            Moved& moved = touch.writes ? traffic.written : traffic.read;
            ++moved.sectors;
            moved.wide_sectors += touch.is_wide ? 1 : 0;
        }
        touches.clear();
        passes.clear();
    }

    void begin_block(const Block& running) {
        finish_block();
        kernel = running.grid().kernel;
        block = running.index();
        passes.resize(running.grid().threads);
    }

    void add(const Block& running, std::uintptr_t address, std::size_t bytes, bool writes, const void* site) {
        if (passes.empty() || running.index() != block || kernel != running.grid().kernel) begin_block(running);
        const std::int64_t place = places.emplace(site, static_cast<std::int64_t>(places.size())).first->second;
        const unsigned thread = running.current();
        std::vector<std::int64_t>& of_thread = passes[thread];
        if (of_thread.size() <= static_cast<std::size_t>(place)) of_thread.resize(places.size());
        const std::int64_t pass = of_thread[static_cast<std::size_t>(place)]++;
        for (std::uintptr_t sector = address / kSectorBytes; sector <= (address + bytes - 1) / kSectorBytes; ++sector)
            touches.push_back({place, pass, thread / emulator::kWarp, sector, writes, bytes == kWideBytes});
    }
};

Counter& counter() {
    static Counter the_counter;
    return the_counter;
}

void count(const void* address, std::size_t bytes, bool writes, const void* site) {
    const Block* const running = emulator::running_block();
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    if (running == nullptr || !emulator::allocations().contains(place)) return;
    counter().add(*running, place, bytes, writes, site);
}

}  // namespace

std::map<std::string, KernelTraffic> take() {
    Counter& all = counter();
    all.finish_block();
    return std::exchange(all.kernels, {});
}

}  // namespace deft::kernels::cuda::traffic

// The functions that code compiled with -fsanitize=thread calls.

namespace {

using deft::kernels::cuda::traffic::count;

}  // namespace

#define DEFT_COUNT_ACCESS(bytes)                                   \
    extern "C" void __tsan_read##bytes(void* address) {            \
        count(address, bytes, false, __builtin_return_address(0)); \
    }                                                              \
    extern "C" void __tsan_write##bytes(void* address) {           \
        count(address, bytes, true, __builtin_return_address(0));  \
    }                                                              \
    extern "C" void __tsan_unaligned_read##bytes(void* address) {  \
        count(address, bytes, false, __builtin_return_address(0)); \
    }                                                              \
    extern "C" void __tsan_unaligned_write##bytes(void* address) { \
        count(address, bytes, true, __builtin_return_address(0));  \
    }
DEFT_COUNT_ACCESS(1)
DEFT_COUNT_ACCESS(2)
DEFT_COUNT_ACCESS(4)
DEFT_COUNT_ACCESS(8)
DEFT_COUNT_ACCESS(16)

extern "C" void __tsan_read_range(void* address, std::size_t bytes) {
    count(address, bytes, false, __builtin_return_address(0));
}
extern "C" void __tsan_write_range(void* address, std::size_t bytes) {
    count(address, bytes, true, __builtin_return_address(0));
}
extern "C" void __tsan_vptr_update(void*, void*) {}
extern "C" void __tsan_vptr_read(void*) {}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}

// The sum reads and writes; it counts as a write.
#define DEFT_COUNT_ATOMICS(bits, Item)                                                               \
    extern "C" Item __tsan_atomic##bits##_fetch_add(volatile void* address, Item value, int order) { \
        void* const plain = const_cast<void*>(address);                                              \
        count(plain, sizeof(Item), true, __builtin_return_address(0));                               \
        return __atomic_fetch_add(static_cast<Item*>(plain), value, order);                          \
    }
DEFT_COUNT_ATOMICS(32, std::uint32_t)
DEFT_COUNT_ATOMICS(64, std::uint64_t)

// An increment with a limit: a load, which counts as nothing, and an exchange, which counts as a write.
extern "C" std::uint32_t __tsan_atomic32_load(const volatile void* address, int order) {
    return __atomic_load_n(static_cast<const volatile std::uint32_t*>(address), order);
}
extern "C" int __tsan_atomic32_compare_exchange_strong(volatile void* address, void* expected, std::uint32_t value,
                                                       int order, int order_of_failure) {
    void* const plain = const_cast<void*>(address);
    count(plain, sizeof value, true, __builtin_return_address(0));
    return __atomic_compare_exchange_n(static_cast<std::uint32_t*>(plain), static_cast<std::uint32_t*>(expected), value,
                                       false, order, order_of_failure)
               ? 1
               : 0;
}
