#pragma once
// What memory and caches of this machine carry, measured now: the other side of the roofline.

#include <algorithm>

namespace deft::kernels {

struct MemoryPeak {
    double read = 0;         // bytes/s, of memory that no cache holds
    double copy = 0;         // bytes/s read and written together
    double update = 0;       // the same, of memory that is changed in place, as an optimiser does
    double cached_read = 0;  // bytes/s, of half of each core's L2

    double best() const { return std::max({read, copy, update}); }
};

// The best of several rounds with every thread busy; under a second.
MemoryPeak measure_memory_peak(int threads);

}  // namespace deft::kernels
