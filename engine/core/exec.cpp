#include "engine/core/exec.h"

#include <cstring>
#include <stdexcept>

#include "kernels/cuda/runtime.h"

namespace deft::engine {

Exec make_exec(const Backend& backend, const Arena& arena) {
    Exec exec;
    exec.device = backend.device;
    if constexpr (kernels::cuda::kBuilt)
        if (backend.device == Device::cuda) {
            exec.context = arena.context();
            exec.cuda = exec.context->exec();
        }
    exec.cpu.threads = backend.threads;
    if (const Tensor workspace = arena.workspace(); workspace && workspace.numel() > 0) {
        const std::span bytes(static_cast<std::byte*>(workspace.data), static_cast<std::size_t>(workspace.bytes()));
        exec.cpu.workspace = exec.cuda.workspace = bytes;
    }
    return exec;
}

void write_tensor(Exec& exec, const Tensor& to, const void* from) {
    if (exec.planned != nullptr) return;
    const auto bytes = static_cast<std::size_t>(to.bytes());
    if constexpr (kernels::cuda::kBuilt)
        if (exec.device == Device::cuda) return kernels::cuda::copy_to_device(exec.cuda, to.data, from, bytes);
    if (bytes > 0) std::memcpy(to.data, from, bytes);
}

void read_tensor(Exec& exec, void* to, const Tensor& from) {
    if (exec.planned != nullptr) throw std::logic_error("a dry run is asked for what it did not compute");
    const auto bytes = static_cast<std::size_t>(from.bytes());
    if constexpr (kernels::cuda::kBuilt)
        if (exec.device == Device::cuda) return kernels::cuda::copy_to_host(exec.cuda, to, from.data, bytes);
    if (bytes > 0) std::memcpy(to, from.data, bytes);
}

const void* host_bytes(Exec& exec, const Tensor& tensor, std::vector<std::byte>& staging) {
    if (exec.device == Device::cpu) return tensor.data;
    if (const auto bytes = static_cast<std::size_t>(tensor.bytes()); staging.size() < bytes) staging.resize(bytes);
    read_tensor(exec, staging.data(), tensor);
    return staging.data();
}

}  // namespace deft::engine
