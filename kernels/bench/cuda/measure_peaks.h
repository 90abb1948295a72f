#pragma once
// The measurements behind kernels/bench/cuda_peaks.h, of builds with CUDA.

#include "kernels/bench/cuda_peaks.h"
#include "kernels/cuda/exec.h"

namespace deft::kernels::cuda {

// Errors: missing, where no device can be used; memory; device.
CudaPeaks measure_device_peaks();

}  // namespace deft::kernels::cuda
