#include "sweeps/gate/python_opponents.h"

#include <fmt/format.h>

#include <vector>

#include "base/installed_files.h"
#include "engine/models/parts_json.h"

namespace deft::sweeps {

namespace {

// task, packages: for errors.
struct Script {
    const char *file, *task, *packages;
};
constexpr Script kStep{"pytorch_step.py", "run the PyTorch step", "torch"};
constexpr Script kRanks{"pytorch_ddp.py", "run PyTorch on several ranks", "torch with gloo"};
constexpr Script kExperts{"pytorch_experts.py", "run PyTorch's layers of experts", "torch"};
constexpr Script kGenerate{"huggingface_generate.py", "generate with transformers", "transformers and torch"};

WorkerProgram program_of(const std::string& python, const Script& script, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {python, installed_file(std::string("engine/bench/") + script.file)});
    return {std::move(arguments), fmt::format("{} could not {}", python, script.task),
            fmt::format("name a Python that has {}, or none", script.packages)};
}

std::string model_argument(const engine::StepBench& bench, const std::vector<std::int64_t>& lengths) {
    Json model = engine::parts_json(bench.model);
    model["lengths"] = lengths;
    return model.dump();
}

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

std::vector<std::string> step_arguments(const engine::StepBench& bench, int threads) {
    return {model_argument(bench, first_lengths(bench)), std::to_string(bench.batch_size), std::to_string(threads)};
}

}  // namespace

std::unique_ptr<LineWorker> start_pytorch_step(const std::string& python, const engine::StepBench& bench, int threads) {
    return std::make_unique<LineWorker>(program_of(python, kStep, step_arguments(bench, threads)));
}

std::unique_ptr<LineWorker> start_pytorch_ranks(const std::string& python, const engine::StepBench& bench, int ranks,
                                                int threads) {
    return std::make_unique<LineWorker>(program_of(
        python, kRanks,
        {model_argument(bench, {}), std::to_string(bench.batch_size), std::to_string(ranks), std::to_string(threads)}));
}

std::unique_ptr<LineWorker> start_pytorch_experts(const std::string& python, const engine::ExpertLayerBench& bench) {
    std::vector<std::string> arguments;
    for (const std::int64_t number :
         {bench.rows, bench.width, bench.hidden, bench.experts, bench.top, std::int64_t{bench.threads}})
        arguments.push_back(std::to_string(number));
    return std::make_unique<LineWorker>(program_of(python, kExperts, arguments));
}

std::unique_ptr<LineWorker> start_huggingface(const std::string& python, const engine::GenerateBench& bench,
                                              const std::filesystem::path& folder) {
    std::vector<std::string> arguments = {folder.string(), std::to_string(bench.threads),
                                          std::to_string(bench.samples)};
    for (const std::int32_t token : engine::prompt_of(bench)) arguments.push_back(std::to_string(token));
    return std::make_unique<LineWorker>(program_of(python, kGenerate, arguments));
}

PytorchStep time_pytorch_on_gpu(const std::string& python, const engine::StepBench& bench, engine::DType dtype) {
    WorkerProgram program = program_of(python, kStep, step_arguments(bench, 1));
    program.argv.emplace_back(engine::dtype_name(dtype));
    const ProcessOutput output = run_process(program.argv);
    const Json json = try_parse_json(output.out);
    if (output.exit_code != 0 || !json.is_object())
        throw Error(ErrorKind::io, fmt::format("{} (exit {})", program.cannot, output.exit_code), program.help);
    return {json.at("seconds"), json.at("version")};
}

}  // namespace deft::sweeps
