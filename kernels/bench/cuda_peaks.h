#pragma once
// Peaks of a GPU, measured now: the reference for a percentage of its roofline.

#include <algorithm>
#include <cstdint>
#include <string>

namespace deft::kernels {

struct CudaPeaks {
    std::string device;                    // "NVIDIA H200"
    double f32_flops = 0, bf16_flops = 0;  // of a large product of random matrices by the library, as training calls it
    double read = 0;                       // bytes/s, of memory that no cache holds
    double copy = 0;                       // bytes/s read and written together
    double cached_read = 0;                // bytes/s, of a quarter of the L2
    std::int64_t cache_bytes = 0;          // of the L2
    double nothing_seconds = 0;            // between two events with nothing between them: less is never measured
    double empty_kernel_seconds = 0;       // of a launch that computes nothing
    double launch_seconds = 0;             // from one such launch to the next in a stream
    double exponentials = 0;               // a second, of exp2f in registers

    double best() const { return std::max(read, copy); }
};

// A few seconds. Errors: missing, where this build or this machine has no device.
CudaPeaks measure_cuda_peaks();

namespace cuda {

// The same in builds with CUDA.
CudaPeaks measure_device_peaks();

}  // namespace cuda

}  // namespace deft::kernels
