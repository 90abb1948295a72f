#pragma once
// The reference kernels: the ops of kernels/ops.h as naive templates over the number type. Tests compare every other
// backend with them. Comments here only derive formulas. They run on one thread and need no workspace.

#include <cstddef>
#include <cstdint>
#include <span>

namespace deft::kernels::reference {

struct Exec {
    int threads = 1;
    std::span<std::byte> workspace;
};

}  // namespace deft::kernels::reference
