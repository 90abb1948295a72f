#pragma once
// How large the caches are that a core of this machine reaches.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace deft::kernels {

// Size of the data or unified cache of that level, from the kernel's description of a processor, or else from the C
// library, which reports a socket's total even where a core reaches a part.
std::optional<std::int64_t> cache_bytes(int level,
                                        const std::filesystem::path& described = "/sys/devices/system/cpu/cpu0/cache");

// 32 MiB where the system does not say.
std::int64_t last_level_cache_bytes();

// The FMA peak of this machine, measured now: what a percentage of peak refers to.

struct FmaPeak {
    double avx2_flops = 0;    // fp32 FLOP/s of 256-bit FMA on all threads
    double avx512_flops = 0;  // of 512-bit FMA, 0 where the CPU has none
    double widest() const { return avx512_flops > avx2_flops ? avx512_flops : avx2_flops; }
    std::string widest_name() const { return avx512_flops > avx2_flops ? "AVX-512" : "AVX2"; }
};

// The best of several short rounds with every thread busy; about a quarter of a second.
FmaPeak measure_fma_peak(int threads);

// Peak memory and cache bandwidth of this machine, measured now: the other side of the roofline.

struct MemoryPeak {
    double read = 0;         // bytes/s, of memory that no cache holds
    double copy = 0;         // bytes/s read and written together
    double update = 0;       // the same, of memory that is changed in place, as an optimiser does
    double cached_read = 0;  // bytes/s, of half of each core's L2

    double best() const { return std::max({read, copy, update}); }
};

// The best of several rounds with every thread busy; under a second.
MemoryPeak measure_memory_peak(int threads);

// How many copies of arguments take turns, so that no cache has a copy any more when its turn comes again.

// One, and as many as are three times the cache together; 4096 at most.
inline std::size_t ring_copies(double footprint, double cache_bytes) {
    constexpr double kMost = 4096;
    return static_cast<std::size_t>(std::min(kMost, std::ceil(3 * cache_bytes / std::max(1.0, footprint)) + 1));
}

}  // namespace deft::kernels
