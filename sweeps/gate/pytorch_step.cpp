#include "sweeps/gate/pytorch_step.h"

#include <fmt/format.h>

#include "base/error.h"
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

Error cannot_run(const std::string& python, const std::string& why) {
    return Error(ErrorKind::io, fmt::format("{} could not run the PyTorch step ({})", python, why),
                 "name a Python that has torch, or none");
}

}  // namespace

PytorchWorker::PytorchWorker(const std::string& python, const engine::StepBench& bench, int threads)
    : python_(python), process_(command(python, bench, threads)) {
    const Json hello = read_answer();
    try {
        version_ = hello.at("version");
        modes_ = hello.at("modes").get<std::vector<std::string>>();
        blas_ = hello.at("blas");
        first_loss_ = hello.at("first_loss");
        compile_failure_ = hello.at("compile_failure");
    } catch (const Json::exception& wrong) {
        throw cannot_run(python_, wrong.what());
    }
}

Json PytorchWorker::read_answer() {
    const std::optional<std::string> line = process_.read_line();
    if (!line) {
        const std::string ending = process_.end();
        throw cannot_run(python_,
                         fmt::format("{}: {}", ending.empty() ? "it ended" : ending, process_.last_complaint()));
    }
    process_.freeze();
    Json answer = try_parse_json(*line);
    if (!answer.is_object()) throw cannot_run(python_, "no JSON but " + *line);
    return answer;
}

Json PytorchWorker::ask(const std::string& request) {
    process_.thaw();
    if (!process_.write_line(request)) throw cannot_run(python_, "it no longer listens");
    return read_answer();
}

double PytorchWorker::run(const std::string& mode, long steps) {
    return ask(fmt::format("{} {}", mode, steps)).value("seconds", 0.0);
}

double PytorchWorker::gemm_rate() {
    return ask("gemm").value("gemm_flops", 0.0);
}

PytorchStep time_pytorch_on_gpu(const std::string& python, const engine::StepBench& bench, engine::DType dtype) {
    std::vector<std::string> argv = command(python, bench, 1);
    argv.push_back(engine::dtype_name(dtype));
    const ProcessOutput output = run_process(argv);
    const Json json = try_parse_json(output.out);
    if (output.exit_code != 0 || !json.is_object()) throw cannot_run(python, fmt::format("exit {}", output.exit_code));
    return {json.at("seconds"), json.at("version")};
}

}  // namespace deft::sweeps
