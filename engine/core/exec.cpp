#include "engine/core/exec.h"

namespace deft::engine {

Exec make_cpu_exec(int threads, const Arena& arena) {
    Exec exec;
    exec.cpu.threads = threads;
    if (const Tensor workspace = arena.workspace(); workspace && workspace.numel() > 0)
        exec.cpu.workspace = {static_cast<std::byte*>(workspace.data), static_cast<std::size_t>(workspace.bytes())};
    return exec;
}

}  // namespace deft::engine
