#include "engine/core/copies.h"

#include <cstring>

#include "kernels/cuda/memory.h"

namespace deft::engine {

void write_tensor(Exec& exec, const Tensor& to, const void* from) {
    const auto bytes = static_cast<std::size_t>(to.bytes());
    if constexpr (kernels::cuda::kBuilt)
        if (exec.device == Device::cuda) return kernels::cuda::copy_to_device(exec.cuda, to.data, from, bytes);
    if (bytes > 0) std::memcpy(to.data, from, bytes);
}

void read_tensor(Exec& exec, void* to, const Tensor& from) {
    const auto bytes = static_cast<std::size_t>(from.bytes());
    if constexpr (kernels::cuda::kBuilt)
        if (exec.device == Device::cuda) return kernels::cuda::copy_to_host(exec.cuda, to, from.data, bytes);
    if (bytes > 0) std::memcpy(to, from.data, bytes);
}

}  // namespace deft::engine
