#pragma once
// The training step of a benchmark in PyTorch (engine/bench/pytorch_step.py), timed in a process of its own.

#include <optional>
#include <string>

#include "engine/bench/step.h"

namespace deft::cli {

struct PytorchStep {
    double seconds = 0;  // median
    std::string version;
    double gemm_flops = 0;  // its rate on 1024 x 3072 x 768, which tells a healthy BLAS from a misconfigured one; CPU only
};

// On the CPU in float32, or on the GPU in that dtype. `python`: a program that has torch.
// Errors: io, where it has none or the script fails.
PytorchStep time_pytorch_step(const std::string& python, const engine::StepBench& bench, int threads,
                              std::optional<engine::DType> on_gpu = {});

}  // namespace deft::cli
