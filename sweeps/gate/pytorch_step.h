#pragma once
// The training step of a benchmark in PyTorch (engine/bench/pytorch_step.py), in a process of its own.

#include <string>
#include <vector>

#include "engine/bench/step.h"
#include "sweeps/gate/python_worker.h"

namespace deft::sweeps {

// On the CPU in float32.
class PytorchWorker {
 public:
    // `python`: a program that has torch. Errors: io, where it has none or the script fails.
    PytorchWorker(const std::string& python, const engine::StepBench& bench, int threads);

    const std::string& version() const { return version_; }
    const std::vector<std::string>& modes() const { return modes_; }  // "eager", and "compiled" where it can
    const std::string& compile_failure() const { return compile_failure_; }
    const std::string& blas() const { return blas_; }  // "OpenBLAS for SkylakeX"
    double first_loss() const { return first_loss_; }

    // Seconds of one step. Errors: io.
    double run(const std::string& mode, long steps);
    // FLOP/s on 1024 x 3072 x 768, which reveals a misconfigured BLAS. Errors: io.
    double gemm_rate();

 private:
    PythonWorker worker_;
    std::string version_, compile_failure_, blas_;
    std::vector<std::string> modes_;
    double first_loss_ = 0;
};

struct PytorchStep {
    double seconds = 0;  // median
    std::string version;
};
// On the GPU in that dtype, through torch.compile. Errors: io, without torch or where the script fails.
PytorchStep time_pytorch_on_gpu(const std::string& python, const engine::StepBench& bench, engine::DType dtype);

}  // namespace deft::sweeps
