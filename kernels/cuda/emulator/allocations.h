#pragma once
// The emulated device's memory: each allocation ends where its pages end, and the pages around it may not be touched.
// Up to 255 bytes after it, and those before it in its first page, hold a value that is huge in every type.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "kernels/cuda/emulator/mapping.h"

namespace deft::kernels::cuda::emulator {

class Allocations {
 public:
    // 256-byte aligned, zero. Errors: memory.
    void* add(std::size_t bytes, std::string name);
    // Takes a result of add, or null.
    void remove(void* memory);

    bool contains(std::uintptr_t address) const;
    // Describes an address that may not be touched: "byte 1204 of dy, which has 1200".
    std::string describe(std::uintptr_t address) const;
    // Which allocations were written outside, in words; empty when none was.
    std::string damage() const;

 private:
    struct Allocation {
        Mapping mapping;
        std::byte* memory;
        std::size_t bytes;
        std::string name;
        // Accessible without a fault, but outside the bytes.
        std::byte* first_before() const { return mapping.data() + kPage; }
        std::byte* end_after() const { return mapping.data() + mapping.size() - kPage; }
    };
    mutable std::mutex mutex_;
    std::map<std::uintptr_t, Allocation> allocations_;  // by their first byte
};

Allocations& allocations();

}  // namespace deft::kernels::cuda::emulator
