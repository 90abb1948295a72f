#pragma once
// How much shared memory a block may have, static and dynamic together: CUDA C++ Programming Guide 13.0, "Technical
// Specifications per Compute Capability", row "Maximum amount of shared memory per thread block".

#include <cstddef>

namespace deft::kernels::cuda {

struct SharedMemoryLimit {
    int compute_capability;  // 86: sm_86
    std::size_t bytes;
};

// Of every architecture that runs the code of a build, from Ampere on. A kernel must keep to the least of them.
inline constexpr SharedMemoryLimit kSharedMemoryLimits[] = {
    {80, 163 << 10}, {86, 99 << 10},   {87, 163 << 10},  {89, 99 << 10},
    {90, 227 << 10}, {100, 227 << 10}, {110, 227 << 10}, {120, 99 << 10},
};

// What may be static.
inline constexpr std::size_t kMostStaticSharedMemory = 48 << 10;

}  // namespace deft::kernels::cuda
