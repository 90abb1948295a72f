#pragma once
// What stands behind Exec::blas on a device: the handle of cuBLASLt and the plans of the products done so far, so that
// only the first step asks for heuristics. Included by .cu sources alone.

namespace deft::kernels::cuda {

// For the current device. Errors: device.
void* open_blas_library();
void close_blas_library(void* library);

}  // namespace deft::kernels::cuda
