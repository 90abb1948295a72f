#pragma once
// What stands behind Exec::blas on a device: the handle of cuBLASLt and the plans of the products done so far, so that
// only the first step asks for heuristics. Included by .cu sources alone.

#include <string>

namespace deft::kernels::cuda {

// For the current device. Errors: device.
void* open_blas_library();
void close_blas_library(void* library);

std::string blas_library_version();  // "13.0.2"

}  // namespace deft::kernels::cuda
