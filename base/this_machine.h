#pragma once
// The name of this machine, and of its boot.

#include <string>

namespace deft {

// As hostname(1) prints it; empty where the kernel does not say.
std::string host_name();
// Differs after each start of the kernel; empty where it does not say.
std::string boot_id();

}  // namespace deft
