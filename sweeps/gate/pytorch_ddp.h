#pragma once
// Data-parallel training steps in PyTorch (engine/bench/pytorch_ddp.py), in processes of their own.

#include <string>
#include <vector>

#include "engine/bench/step.h"
#include "sweeps/gate/python_worker.h"

namespace deft::sweeps {

// DistributedDataParallel over gloo, on the CPU in float32; plain PyTorch on one rank.
class PytorchRanksWorker {
 public:
    // `python`: a program that has torch. threads: of each rank. Errors: io, where it has none or the script fails.
    PytorchRanksWorker(const std::string& python, const engine::StepBench& bench, int ranks, int threads);

    const std::string& version() const { return version_; }
    bool has_fused_adamw() const { return has_fused_adamw_; }
    // "eager", and "compiled" where it has torch.compile, which works at a mode's first steps, for minutes.
    const std::vector<std::string>& modes() const { return modes_; }
    double first_loss() const { return first_loss_; }

    // Seconds of one step. Errors: io.
    double step(const std::string& mode, long steps);

 private:
    PythonWorker worker_;
    std::string version_;
    std::vector<std::string> modes_;
    bool has_fused_adamw_ = false;
    double first_loss_ = 0;
};

}  // namespace deft::sweeps
