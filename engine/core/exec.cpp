#include "engine/core/exec.h"

#include <immintrin.h>
#include <omp.h>

namespace deft::engine {

Exec make_cpu_exec(int threads, const Arena& arena) {
    omp_set_num_threads(threads);
#pragma omp parallel num_threads(threads)
    _mm_setcsr(_mm_getcsr() | 0x8040);  // FTZ and DAZ

    Exec exec;
    exec.cpu.threads = threads;
    if (const Tensor workspace = arena.workspace(); workspace && workspace.numel() > 0)
        exec.cpu.workspace = {static_cast<std::byte*>(workspace.data), static_cast<std::size_t>(workspace.bytes())};
    return exec;
}

}  // namespace deft::engine
