#pragma once
// Layers of experts in PyTorch (engine/bench/pytorch_experts.py), in a process of its own.

#include <string>
#include <vector>

#include "engine/bench/expert_layer.h"
#include "sweeps/gate/python_worker.h"

namespace deft::sweeps {

// On the CPU in float32.
class PytorchExpertsWorker {
 public:
    // `python`: a program that has torch. Errors: io, where it has none or the script fails.
    PytorchExpertsWorker(const std::string& python, const engine::ExpertLayerBench& bench);

    const std::string& version() const { return version_; }
    const std::vector<std::string>& modes() const { return modes_; }  // "dense", "loop", "masks"

    // Seconds of one forward and backward pass. Errors: io.
    double run(const std::string& mode, long runs);

 private:
    PythonWorker worker_;
    std::string version_;
    std::vector<std::string> modes_;
};

}  // namespace deft::sweeps
