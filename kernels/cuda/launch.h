#pragma once
// Starting kernels; included by .cu sources alone.

#include <cstdint>

#include "kernels/cuda/exec.h"
#include "kernels/device.h"

namespace deft::kernels::cuda {

struct Launch {
    const char* kernel;  // its name, for messages and for the count of kernels that tests ran
    std::int64_t blocks;
    int threads;                   // a block
    std::size_t shared_bytes = 0;  // dynamic
};

DEFT_HOST_DEVICE inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

#if defined(__CUDACC__)

// Errors: device, naming the kernel. Defined in runtime.cu.
void check(cudaError_t status, const char* what);

template <class... Parameters, class... Arguments>
void launch(Exec& exec, const Launch& shape, void (*kernel)(Parameters...), Arguments... arguments) {
    if (shape.blocks == 0) return;
    constexpr std::size_t kWithoutAsking = 48 << 10;
    if (shape.shared_bytes > kWithoutAsking)
        check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shape.shared_bytes)),
              shape.kernel);
    kernel<<<dim3(static_cast<unsigned>(shape.blocks)), dim3(static_cast<unsigned>(shape.threads)), shape.shared_bytes,
             static_cast<cudaStream_t>(exec.stream)>>>(static_cast<Parameters>(arguments)...);
    check(cudaGetLastError(), shape.kernel);
}

#else

template <class... Parameters, class... Arguments>
void launch(Exec&, const Launch& shape, void (*kernel)(Parameters...), Arguments... arguments) {
    if (shape.blocks == 0) return;
    emulator::run(shape.kernel, shape.blocks, shape.threads, shape.shared_bytes,
                  [&] { kernel(static_cast<Parameters>(arguments)...); });
}

#endif

}  // namespace deft::kernels::cuda
