#pragma once
// How CPU kernels run: a number of threads and one scratch buffer. Results never depend on the thread count.

#include <cstddef>
#include <cstdint>
#include <span>

namespace deft::kernels::cpu {

struct Exec {
    int threads = 1;
    std::span<std::byte>
        workspace;  // at least X_workspace(...) bytes for each kernel X that names one; 64-byte aligned
};

}  // namespace deft::kernels::cpu
