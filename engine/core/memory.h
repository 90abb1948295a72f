#pragma once
// Blocks of a backend's memory.

#include <cstddef>
#include <memory>

#include "engine/core/backend.h"

namespace deft::kernels::cuda {
class Context;
}

namespace deft::engine {

using Memory = std::unique_ptr<void, void (*)(void*)>;

// The state that a device needs before its memory, or staging memory for it, is allocated: null for a CPU. Errors:
// missing, for a device that is not there.
using DeviceContext = std::shared_ptr<const kernels::cuda::Context>;
DeviceContext open_device(Device device);

// Device memory, zero-initialized. Errors: memory.
Memory allocate(Device device, std::size_t bytes);
// Host memory from which the device copies asynchronously; zero-initialized.
Memory allocate_staging(Device device, std::size_t bytes);

}  // namespace deft::engine
