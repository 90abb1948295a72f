// Operations of kernel source on the running block. Nothing here may allocate or call into the C library: it
// runs as a thread of the block, and ThreadSanitizer would take the block's own bookkeeping for that thread's.

#include <fmt/format.h>

#include "kernels/cuda/emulator/allocations.h"
#include "kernels/cuda/emulator/block.h"
#include "kernels/cuda/emulator/emulator.h"
#include "kernels/cuda/emulator/sanitizers.h"
#include "kernels/cuda/emulator/shared_memory.h"
#include "kernels/cuda/emulator/warp.h"

namespace deft::kernels::cuda::emulator {

namespace {

// The running thread, about to take part in an operation of these lanes of its warp.
Thread& lane_of(unsigned mask) {
    Block& block = *running_block();
    Thread& self = block.current_thread();
    if ((mask >> lane_index() & 1) == 0) block.misuse("a thread is not among the lanes that its operation names");
    self.mask = mask;
    return self;
}

}  // namespace

unsigned thread_index() {
    return running_block()->current();
}

unsigned block_index() {
    return running_block()->index();
}

unsigned threads_of_block() {
    return running_block()->grid().threads;
}

unsigned blocks_of_grid() {
    return running_block()->grid().blocks;
}

int lane_index() {
    return static_cast<int>(thread_index() % kWarp);
}

void misaligned_access(const void* address, std::size_t bytes) {
    running_block()->misuse(fmt::format("thread {} moves {} bytes at once, which begin at {}", thread_index(), bytes,
                                        allocations().describe(reinterpret_cast<std::uintptr_t>(address))));
}

void block_barrier(const std::source_location& site) {
    if (is_skipped(site)) return;
    Block& block = *running_block();
    block.current_thread().mask = 0;
    block.wait(Wait::block_barrier, site);
}

void warp_barrier(unsigned mask, const std::source_location& site) {
    if (is_skipped(site)) return;
    lane_of(mask);
    running_block()->wait(Wait::warp_barrier, site);
}

void memory_fence(const std::source_location& site) {
    if (is_skipped(site)) return;
    Block& block = *running_block();
    Thread& self = block.current_thread();
    if (self.counted != nullptr) tsan::acquire(self.counted);
    self.counted = nullptr;
    self.has_fenced = true;
    self.mask = 0;
    block.wait(Wait::fence, site);
}

void order_count(void* counter) {
    Thread& self = running_block()->current_thread();
    if (self.has_fenced) tsan::release(counter);
    self.has_fenced = false;
    self.counted = counter;
}

std::uint64_t exchange(unsigned mask, std::uint64_t value, int source, const std::source_location& site) {
    Thread& self = lane_of(mask);
    self.value = value;
    self.source = source & (kWarp - 1);
    running_block()->wait(Wait::shuffle, site);
    return self.result;
}

unsigned ballot(unsigned mask, bool predicate, const std::source_location& site) {
    Thread& self = lane_of(mask);
    self.value = predicate ? 1 : 0;
    running_block()->wait(Wait::ballot, site);
    return static_cast<unsigned>(self.result);
}

void collective(CollectiveWork work, void* mine, const std::source_location& site) {
    Thread& self = lane_of(kAllLanes);
    self.value = reinterpret_cast<std::uint64_t>(mine);
    self.work = work;
    running_block()->wait(Wait::collective, site);
}

void* static_shared_memory(std::size_t bytes, const std::source_location& site) {
    Block& block = *running_block();
    void* const array = block.shared().static_array(bytes, site);
    if (array == nullptr) block.misuse("more than 48 KiB of static shared memory, or too many arrays");
    return array;
}

void* dynamic_shared_memory() {
    return running_block()->shared().dynamic_array();
}

}  // namespace deft::kernels::cuda::emulator
