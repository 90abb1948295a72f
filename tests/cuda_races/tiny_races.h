#pragma once
// Runs one of the kernels that tests of the emulator are about, where ThreadSanitizer sees it.

#include <string>

namespace deft::kernels::cuda::tiny {

// False where the run does not exist.
bool run_tiny(const std::string& name);

}  // namespace deft::kernels::cuda::tiny
