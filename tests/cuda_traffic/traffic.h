#pragma once
// Counts the global memory that emulated kernels move. The kernels of this program are compiled for ThreadSanitizer,
// whose calls before each access come here instead: no access of a kernel can avoid the count.

#include <cstdint>
#include <map>
#include <string>

namespace deft::kernels::cuda::traffic {

inline constexpr std::int64_t kSectorBytes = 32, kWideBytes = 16;

// One direction. A warp's instruction moves each 32-byte sector once that any of its lanes touches; no cache keeps it.
struct Moved {
    std::int64_t sectors = 0;
    std::int64_t wide_sectors = 0;  // by accesses of 16 bytes

    std::int64_t sector_bytes() const { return sectors * kSectorBytes; }
};

struct KernelTraffic {
    Moved read, written;

    std::int64_t sector_bytes() const { return read.sector_bytes() + written.sector_bytes(); }
    std::int64_t wide_sector_bytes() const { return (read.wide_sectors + written.wide_sectors) * kSectorBytes; }
};

// Each kernel's traffic since the last call.
std::map<std::string, KernelTraffic> take();

}  // namespace deft::kernels::cuda::traffic
