#pragma once
// A tensor on its way to the host's memory, while ops after it start.

#include <cstddef>
#include <memory>

#include "engine/core/exec.h"
#include "engine/core/memory.h"

namespace deft::kernels::cuda {
class Event;
}

namespace deft::engine {

class AwaitedTensor {
 public:
    // Room for a tensor of that size. Errors: memory.
    AwaitedTensor(Device device, std::int64_t bytes);

    // Copies in the order of the ops. Errors: device.
    void start(Exec& exec, const Tensor& from);
    // The elements of the tensor that was started last, once they are there; the next start() overwrites them. Errors:
    // device, for an op that failed.
    const void* wait() const;

 private:
    Memory bytes_;
    std::shared_ptr<kernels::cuda::Event> arrival_;  // of a GPU
};

}  // namespace deft::engine
