#include "sweeps/cli/pytorch_step.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/process.h"

namespace deft::cli {

PytorchStep time_pytorch_step(const std::string& python, const engine::StepBench& bench, int threads,
                              std::optional<engine::DType> on_gpu) {
    std::vector<std::string> argv = {python, DEFT_SOURCE_DIR "/engine/bench/pytorch_step.py"};
    const auto& m = bench.model;
    for (const std::int64_t extent : {m.layers, m.width, m.heads, m.vocab, m.max_seqlen, bench.batch_size})
        argv.push_back(std::to_string(extent));
    argv.push_back(std::to_string(threads));
    if (on_gpu) argv.push_back(engine::dtype_name(*on_gpu));
    const ProcessOutput output = run_process(argv);
    const Json json = Json::parse(output.out, nullptr, false);
    if (output.exit_code != 0 || !json.is_object())
        throw Error(ErrorKind::io, fmt::format("{} could not run the PyTorch step (exit {})", python, output.exit_code),
                    "name a Python that has torch, or none");
    return {json.at("seconds"), json.at("version"), json.value("gemm_flops", 0.0)};
}

}  // namespace deft::cli
