#include "engine/core/backend.h"

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cuda/memory.h"

namespace deft::engine {

namespace {

constexpr std::int64_t kLargestCudaHead = 128;

void require_cuda(const Backend& backend, std::int64_t head_size) {
    if constexpr (!kernels::cuda::kBuilt)
        throw Error(ErrorKind::missing, "this build has no CUDA",
                    "build with `./deft --cuda`, which needs nvcc 12 or newer, or use cpu slots");
    else if (const std::string reason = kernels::cuda::unusable_reason(); !reason.empty())
        throw Error(ErrorKind::missing, "no CUDA device can be used: " + reason, "use cpu slots, or mend that");
    if (backend.dtype != DType::f32 && backend.dtype != DType::bf16)
        throw Error(ErrorKind::config, fmt::format("the cuda backend has no {}", dtype_name(backend.dtype)),
                    "use f32 or bf16");
    if (head_size > kLargestCudaHead)
        throw Error(ErrorKind::config,
                    fmt::format("heads of {} are wider than the cuda backend's {}", head_size, kLargestCudaHead),
                    "raise model.heads or lower model.width");
}

}  // namespace

const char* device_name(Device device) {
    return device == Device::cpu ? "cpu" : "cuda";
}

void require_backend(const Backend& backend, std::int64_t head_size) {
    if (backend.device == Device::cuda) return require_cuda(backend, head_size);
    if (backend.dtype != DType::f32 && backend.dtype != DType::f64)
        throw Error(ErrorKind::config, fmt::format("the cpu backend has no {}", dtype_name(backend.dtype)),
                    "use f32, or gpu slots");
}

}  // namespace deft::engine
