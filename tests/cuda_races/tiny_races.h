#pragma once
// Runs one of the kernels that tests of the emulator are about, where ThreadSanitizer sees it.

#include <string>

namespace deft::kernels::cuda::tiny {

// False where there is no such run.
bool run_tiny(const std::string& name);

}  // namespace deft::kernels::cuda::tiny
