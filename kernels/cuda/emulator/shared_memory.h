#pragma once
// The shared memory of the running block: NaN in every floating type at first, and a zone of it around arrays that
// must stay as it is.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include "kernels/cuda/emulator/mapping.h"

namespace deft::kernels::cuda::emulator {

class SharedMemory {
 public:
    explicit SharedMemory(std::size_t dynamic_bytes);

    // The array declared at `site`; null when it does not fit.
    void* static_array(std::size_t bytes, const std::source_location& site);
    void* dynamic_array() { return memory_.data() + kZone; }
    // Sum over all arrays, as they were declared.
    std::size_t bytes() const;
    // Which architectures have less than that, in words; empty when none has.
    std::string excess() const;
    // Describes writes outside every array; empty when there are none.
    std::string damage() const;

 private:
    static constexpr std::size_t kZone = 256;  // bytes, also the alignment of arrays
    static constexpr std::size_t kMostArrays = 64;
    struct Array {
        std::size_t offset, bytes;
        std::source_location site;  // of a static array
    };
    std::string name(const Array&) const;
    // The number of bytes in [first, last) that no longer hold the poison.
    std::size_t written(std::size_t first, std::size_t last) const;

    // New each block: to ThreadSanitizer another block's accesses are then to other memory.
    Mapping memory_;
    // Plain arrays: threads of the block come here, and code of templates may be a sanitizer's own copy.
    Array arrays_[kMostArrays];  // the dynamic one first
    std::size_t count_ = 1;
};

// Memory of the running block. Throws Misuse beyond 48 KiB.
void* static_shared_memory(std::size_t bytes, const std::source_location& site);
void* dynamic_shared_memory();

template <class Item, std::size_t count>
auto shared_array(const std::source_location& site) -> Item (&)[count] {
    return *reinterpret_cast<Item(*)[count]>(static_shared_memory(count * sizeof(Item), site));
}

// How much shared memory a block may have, static and dynamic together: CUDA C++ Programming Guide 13.0, "Technical
// Specifications per Compute Capability", row "Maximum amount of shared memory per thread block".

struct SharedMemoryLimit {
    int compute_capability;  // 86: sm_86
    std::size_t bytes;
};

// Limits of every architecture that runs the code of a build, from Ampere on. A kernel must fit the smallest.
inline constexpr SharedMemoryLimit kSharedMemoryLimits[] = {
    {80, 163 << 10}, {86, 99 << 10},   {87, 163 << 10},  {89, 99 << 10},
    {90, 227 << 10}, {100, 227 << 10}, {110, 227 << 10}, {120, 99 << 10},
};

// Limit of static arrays.
inline constexpr std::size_t kMostStaticSharedMemory = 48 << 10;

}  // namespace deft::kernels::cuda::emulator
