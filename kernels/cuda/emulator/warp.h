#pragma once
// Collective operations of a block's threads: barriers, shuffles, votes (CUDA C++ Programming Guide, "Synchronization
// functions", "Warp shuffle functions", "Warp vote functions"). Stricter than the guide: the lanes of an operation meet
// at one place of the source.

#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

namespace deft::kernels::cuda::emulator {

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

int lane_index();
void block_barrier(const std::source_location&);
void warp_barrier(unsigned mask, const std::source_location&);
// Accesses of a thread before a fence and a count happen before those of another after a later count of that counter
// and a fence.
void memory_fence(const std::source_location&);
void order_count(void* counter);
// Every lane of the mask brings a value and gets that of lane `source`. Orders no memory.
std::uint64_t exchange(unsigned mask, std::uint64_t value, int source, const std::source_location&);
// A bit for each lane of the mask that brings true. Orders no memory.
unsigned ballot(unsigned mask, bool predicate, const std::source_location&);
// All lanes of a warp bring operands, and `work` gets those of every lane, in their order. Orders no memory.
using CollectiveWork = void (*)(void* const* operands);
void collective(CollectiveWork work, void* mine, const std::source_location&);

template <class Item>
Item shuffle(unsigned mask, Item item, int source, const std::source_location& site) {
    static_assert(std::is_arithmetic_v<Item> && (sizeof(Item) == 4 || sizeof(Item) == 8), "a device shuffles no other");
    std::uint64_t value = 0;
    std::memcpy(&value, &item, sizeof item);
    value = exchange(mask, value, source, site);
    std::memcpy(&item, &value, sizeof item);
    return item;
}

}  // namespace deft::kernels::cuda::emulator

inline void __syncthreads(std::source_location site = std::source_location::current()) {
    deft::kernels::cuda::emulator::block_barrier(site);
}

inline void __syncwarp(unsigned mask = deft::kernels::cuda::emulator::kAllLanes,
                       std::source_location site = std::source_location::current()) {
    deft::kernels::cuda::emulator::warp_barrier(mask, site);
}

inline void __threadfence(std::source_location site = std::source_location::current()) {
    deft::kernels::cuda::emulator::memory_fence(site);
}

// width: a power of two; lanes form groups of that size.
template <class Item>
Item __shfl_sync(unsigned mask, Item item, int source, int width = deft::kernels::cuda::emulator::kWarp,
                 std::source_location site = std::source_location::current()) {
    using namespace deft::kernels::cuda::emulator;
    const int group = lane_index() & ~(width - 1);
    return shuffle(mask, item, group + (source & (width - 1)), site);
}

template <class Item>
Item __shfl_up_sync(unsigned mask, Item item, unsigned delta, int width = deft::kernels::cuda::emulator::kWarp,
                    std::source_location site = std::source_location::current()) {
    using namespace deft::kernels::cuda::emulator;
    const int lane = lane_index(), group = lane & ~(width - 1), source = lane - static_cast<int>(delta);
    return shuffle(mask, item, source < group ? lane : source, site);
}

template <class Item>
Item __shfl_down_sync(unsigned mask, Item item, unsigned delta, int width = deft::kernels::cuda::emulator::kWarp,
                      std::source_location site = std::source_location::current()) {
    using namespace deft::kernels::cuda::emulator;
    const int lane = lane_index(), group = lane & ~(width - 1), source = lane + static_cast<int>(delta);
    return shuffle(mask, item, source >= group + width ? lane : source, site);
}

template <class Item>
Item __shfl_xor_sync(unsigned mask, Item item, int lane_bits, int width = deft::kernels::cuda::emulator::kWarp,
                     std::source_location site = std::source_location::current()) {
    using namespace deft::kernels::cuda::emulator;
    const int lane = lane_index(), group = lane & ~(width - 1), source = lane ^ lane_bits;
    return shuffle(mask, item, source >= group + width ? lane : source, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              std::source_location site = std::source_location::current()) {
    return deft::kernels::cuda::emulator::ballot(mask, predicate != 0, site);
}

inline int __any_sync(unsigned mask, int predicate, std::source_location site = std::source_location::current()) {
    return deft::kernels::cuda::emulator::ballot(mask, predicate != 0, site) != 0;
}

inline int __all_sync(unsigned mask, int predicate, std::source_location site = std::source_location::current()) {
    return deft::kernels::cuda::emulator::ballot(mask, predicate != 0, site) == mask;
}
