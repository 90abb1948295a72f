#pragma once
// Blocks of a backend's memory.

#include <cstddef>
#include <memory>

#include "engine/core/backend.h"

namespace deft::engine {

using Memory = std::unique_ptr<void, void (*)(void*)>;

// Of the device, zero at first. Errors: memory.
Memory allocate(Device device, std::size_t bytes);
// Of the host, from which the device can copy while the host goes on; zero at first.
Memory allocate_staging(Device device, std::size_t bytes);

}  // namespace deft::engine
