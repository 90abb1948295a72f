#include "engine/core/exec.h"

#include "kernels/cuda/memory.h"

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

}  // namespace deft::engine
