#include "engine/core/backend.h"

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/product_table.h"
#include "kernels/cuda/runtime.h"

namespace deft::engine {

namespace {

void require_supported_by_cuda(DType dtype, std::int64_t head_size) {
    if (dtype != DType::f32 && dtype != DType::bf16)
        throw Error(ErrorKind::config, fmt::format("the cuda backend has no {}", dtype_name(dtype)), "use f32 or bf16");
    if (head_size > kernels::cuda::kMostHeadSize)
        throw Error(
            ErrorKind::config,
            fmt::format("heads of {} are wider than the cuda backend's {}", head_size, kernels::cuda::kMostHeadSize),
            "raise model.heads or lower model.width");
}

}  // namespace

const char* device_name(Device device) {
    constexpr const char* names[] = {"cpu", "cuda", "none"};
    return names[static_cast<int>(device)];
}

std::vector<Gpu> usable_gpus() {
    std::vector<Gpu> gpus;
    if constexpr (kernels::cuda::kBuilt)
        for (const kernels::cuda::DeviceInfo& device : kernels::cuda::devices())
            gpus.push_back({device.name, device.uuid, device.memory_bytes});
    return gpus;
}

std::map<std::string, std::string> gpu_versions() {
    if constexpr (kernels::cuda::kBuilt) {
        const kernels::cuda::Versions all = kernels::cuda::versions();
        std::map<std::string, std::string> named = {
            {"driver", all.driver}, {"runtime", all.runtime}, {"cublaslt", all.library}};
        if (const std::string table = kernels::cuda::product_table_identity(); !table.empty())
            named["product_table"] = table;
        return named;
    }
    return {};
}

std::string gpu_problem() {
    if constexpr (kernels::cuda::kBuilt) return kernels::cuda::unusable_reason();
    return "this program was built without CUDA (build it with ./deft --cuda, which needs nvcc 12 or newer)";
}

void require_supported(const Backend& backend, std::int64_t head_size) {
    if (backend.device != Device::cpu) return require_supported_by_cuda(backend.dtype, head_size);
    if (backend.dtype != DType::f32 && backend.dtype != DType::f64)
        throw Error(ErrorKind::config, fmt::format("the cpu backend has no {}", dtype_name(backend.dtype)),
                    "use f32, or gpu slots");
}

void require_backend(const Backend& backend, std::int64_t head_size) {
    require_supported(backend, head_size);
    if (backend.device != Device::cuda) return;
    if (const std::string problem = gpu_problem(); !problem.empty())
        throw Error(ErrorKind::missing, "no GPU can be used: " + problem, "use cpu slots, or see `deft doctor`");
}

}  // namespace deft::engine
