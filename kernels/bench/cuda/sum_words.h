#pragma once
// The kernels that only benchmarks launch.

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/exec.h"

namespace deft::kernels::cuda {

// *total += the 32-bit words of memory, modulo 2^32: a reading of all of it. 16-byte aligned; bytes: a multiple of 16.
void sum_words(Exec&, std::uint32_t* total, const void* memory, std::size_t bytes);

// A launch and nothing else.
void launch_nothing(Exec&);

}  // namespace deft::kernels::cuda
