#pragma once
// An access to memory that may not be touched, made by a thread of the running block: the launch ends there with a
// Misuse that names the kernel and the buffer, where it would be a crash.

#include <signal.h>

namespace deft::kernels::cuda::emulator {

// While one lives, such faults are caught. Faults of the host's own code stay what they were.
class FaultTrap {
 public:
    FaultTrap();
    ~FaultTrap();
    FaultTrap(const FaultTrap&) = delete;
    FaultTrap& operator=(const FaultTrap&) = delete;

 private:
    struct sigaction before_ {};
};

}  // namespace deft::kernels::cuda::emulator
