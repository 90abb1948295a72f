#pragma once
// How many copies of arguments take turns, so that no cache has a copy any more when its turn comes again.

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace deft::kernels {

// One, and as many as are three times the cache together; 4096 at most.
inline std::size_t ring_copies(double footprint, double cache_bytes) {
    constexpr double kMost = 4096;
    return static_cast<std::size_t>(std::min(kMost, std::ceil(3 * cache_bytes / std::max(1.0, footprint)) + 1));
}

}  // namespace deft::kernels
