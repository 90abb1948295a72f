#pragma once
// The reference kernels: naive templates over the number type, the specification that every other backend is held to.
// Function names and argument lists are those of kernels/cpu; they run on one thread and need no workspace.

#include <cstddef>
#include <cstdint>
#include <span>

namespace deft::kernels::reference {

struct Exec {
    int threads = 1;
    std::span<std::byte> workspace;
};

}  // namespace deft::kernels::reference
