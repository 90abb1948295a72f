#pragma once
// Starting kernels; included by .cu sources alone.

#include <cstdint>

#include "kernels/cuda/ceil_div.h"
#include "kernels/cuda/exec.h"
#include "kernels/device.h"

namespace deft::kernels::cuda {

struct Launch {
    const char* kernel;  // its name, for messages and for the count of kernels that tests ran
    std::int64_t blocks;
    int threads;                   // a block
    std::size_t shared_bytes = 0;  // dynamic
};

template <class... Parameters, class... Arguments>
void launch(Exec& exec, const Launch& shape, void (*kernel)(Parameters...), Arguments... arguments) {
    if (shape.blocks == 0) return;
    start_kernel(shape.kernel, shape.blocks, shape.threads, shape.shared_bytes, exec.stream, kernel,
                 static_cast<Parameters>(arguments)...);
}

}  // namespace deft::kernels::cuda
