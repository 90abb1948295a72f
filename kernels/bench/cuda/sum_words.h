#pragma once
// The kernels that only benchmarks launch.

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/exec.h"

namespace deft::kernels::cuda {

// *total += the 32-bit words of memory, modulo 2^32: a reading of all of it. 16-byte aligned; bytes: a multiple of 16.
void sum_words(Exec&, std::uint32_t* total, const void* memory, std::size_t bytes);

// out = the end of chains of exp2f that start at each item; (items) f32. Each item takes the constant below.
inline constexpr int kExponentialsOfItem = 256;
void run_exponentials(Exec&, float* out, std::int64_t items);

// A launch and nothing else.
void launch_nothing(Exec&);

}  // namespace deft::kernels::cuda
