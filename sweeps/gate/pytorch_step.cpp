#include "sweeps/gate/pytorch_step.h"

#include <fmt/format.h>

#include "base/installed_files.h"
#include "base/json.h"
#include "base/process.h"
#include "engine/models/parts_json.h"

namespace deft::sweeps {

namespace {

// Real tokens of the samples of a batch, where they have fewer than the model's length; else none.
std::vector<std::int64_t> first_lengths(const engine::StepBench& bench) {
    if (bench.model.is_causal()) return {};
    const engine::TrainingData data = engine::random_training_data(bench);
    const auto* samples = std::get_if<std::shared_ptr<const engine::BertSamples>>(&data);
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; samples != nullptr && i < bench.batch_size; ++i)
        lengths.push_back((*samples)->real_length(i));
    return lengths;
}

std::vector<std::string> command(const std::string& python, const engine::StepBench& bench, int threads) {
    Json model = engine::parts_json(bench.model);
    model["lengths"] = first_lengths(bench);
    return {python, installed_file("engine/bench/pytorch_step.py"), model.dump(), std::to_string(bench.batch_size),
            std::to_string(threads)};
}

constexpr const char *kStepTask = "run the PyTorch step", *kStepPackages = "torch";

}  // namespace

PytorchWorker::PytorchWorker(const std::string& python, const engine::StepBench& bench, int threads)
    : worker_(command(python, bench, threads), kStepTask, kStepPackages) {
    const Json hello = worker_.read_answer();
    try {
        version_ = hello.at("version");
        modes_ = hello.at("modes").get<std::vector<std::string>>();
        blas_ = hello.at("blas");
        first_loss_ = hello.at("first_loss");
        compile_failure_ = hello.at("compile_failure");
    } catch (const Json::exception& wrong) {
        throw worker_.failure(wrong.what());
    }
}

double PytorchWorker::run(const std::string& mode, long steps) {
    return worker_.ask(fmt::format("{} {}", mode, steps)).value("seconds", 0.0);
}

double PytorchWorker::gemm_rate() {
    return worker_.ask("gemm").value("gemm_flops", 0.0);
}

PytorchStep time_pytorch_on_gpu(const std::string& python, const engine::StepBench& bench, engine::DType dtype) {
    std::vector<std::string> argv = command(python, bench, 1);
    argv.push_back(engine::dtype_name(dtype));
    const ProcessOutput output = run_process(argv);
    const Json json = try_parse_json(output.out);
    if (output.exit_code != 0 || !json.is_object())
        throw PythonWorker::failure(python, kStepTask, kStepPackages, fmt::format("exit {}", output.exit_code));
    return {json.at("seconds"), json.at("version")};
}

}  // namespace deft::sweeps
