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

// What a device must be opened with before memory of it, or staging memory for it, is allocated: null of a CPU. Errors:
// missing, for a device that is not there.
using DeviceContext = std::shared_ptr<const kernels::cuda::Context>;
DeviceContext open_device(Device device);

// Of the device, zero at first. Errors: memory.
Memory allocate(Device device, std::size_t bytes);
// Of the host, from which the device can copy while the host goes on; zero at first.
Memory allocate_staging(Device device, std::size_t bytes);

}  // namespace deft::engine
