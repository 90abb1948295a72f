#pragma once
// Python scripts (engine/bench/*.py) that measurements are compared with, each in a process of its own, on the CPU in
// float32. `python`: a program that has the script's packages. Errors of all: io, where it lacks one or the script
// fails.

#include <filesystem>
#include <memory>
#include <string>

#include "engine/bench/expert_layer.h"
#include "engine/bench/generate.h"
#include "engine/bench/step.h"
#include "sweeps/gate/line_worker.h"

namespace deft::sweeps {

// All but transformers describe themselves with "version" and "modes"; "compiled" is among these where torch can
// compile.

// PyTorch's training step. Says "blas", as in "OpenBLAS for SkylakeX", "first_loss" and "compile_failure", too. Answers
// "gemm" with "gemm_flops": FLOP/s on 1024 x 3072 x 768, which reveals a misconfigured BLAS.
std::unique_ptr<LineWorker> start_pytorch_step(const std::string& python, const engine::StepBench& bench, int threads);

// Its DistributedDataParallel over gloo; plain PyTorch on one rank. threads: of each rank. Says "first_loss" and
// "fused", whether it has such an AdamW, too.
std::unique_ptr<LineWorker> start_pytorch_ranks(const std::string& python, const engine::StepBench& bench, int ranks,
                                                int threads);

// Its layers of experts: "dense", "loop" and "masks", forward and backward.
std::unique_ptr<LineWorker> start_pytorch_experts(const std::string& python, const engine::ExpertLayerBench& bench);

// Generation in Hugging Face's transformers, greedy, from the model in `folder`. Says "version" and "torch". It runs
// a number of tokens after the prompt; its answers have those of the first sample as "tokens", too.
std::unique_ptr<LineWorker> start_huggingface(const std::string& python, const engine::GenerateBench& bench,
                                              const std::filesystem::path& folder);

struct PytorchStep {
    double seconds = 0;  // median
    std::string version;
};
// On the GPU in that dtype, through torch.compile, to its end.
PytorchStep time_pytorch_on_gpu(const std::string& python, const engine::StepBench& bench, engine::DType dtype);

}  // namespace deft::sweeps
