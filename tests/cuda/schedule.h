#pragma once
// Differences between tests of the kernels on an emulated device and on a real one.

#include <cstdint>

namespace deft::kernels::cuda {

// Reorders the threads of an emulated device; does nothing to a real one, which orders them as it likes.
void use_schedule(std::uint64_t seed);

bool device_is_emulated();

// True of an emulated device under a sanitizer, where only small cases are quick.
bool device_is_slow();

}  // namespace deft::kernels::cuda
