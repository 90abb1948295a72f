#pragma once
// Launches that are recorded once and started again with one call: a CUDA graph. It repeats their arguments, so what
// changes from step to step is read from memory (kernels/step_value.h).

#include <cstdint>
#include <functional>

#include "kernels/cuda/exec.h"

namespace deft::kernels::cuda {

class Graph {
 public:
    // Records what `work` gives the stream; nothing of it runs. Errors, which leave the stream as it was: device, for
    // work that waits or copies from or to the host, and for a graph that the driver refuses.
    Graph(Exec&, const std::function<void()>& work);
    ~Graph();
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    // In stream order. Errors: device.
    void start(Exec&) const;
    std::int64_t nodes() const { return nodes_; }

 private:
    friend struct RecordedLaunches;
    void* graph_ = nullptr;  // cudaGraphExec_t; under the emulator a list of launches
    std::int64_t nodes_ = 0;
};

}  // namespace deft::kernels::cuda
