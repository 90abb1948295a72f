#include "engine/bench/generate.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "engine/bench/step.h"
#include "engine/train/checkpoint.h"

namespace deft::engine {

TransformerConfig model_of(const GenerateBench& bench) {
    if (bench.width % bench.heads != 0)
        throw Error(ErrorKind::config, fmt::format("{} heads do not divide a width of {}", bench.heads, bench.width),
                    "choose a divisor of the width");
    return gpt2_config(bench.layers, bench.width, bench.heads, bench.prompt + bench.tokens, bench.vocab);
}

std::vector<std::int32_t> prompt_of(const GenerateBench& bench) {
    std::vector<std::int32_t> prompt;
    for (std::int64_t i = 0; i < bench.prompt; ++i) {
        const std::uint32_t word =
            kernels::philox_u32(2, kernels::RandomPurpose::tests, 0, 0, static_cast<std::uint64_t>(i), 0);
        prompt.push_back(static_cast<std::int32_t>(word % static_cast<std::uint32_t>(bench.vocab)));
    }
    return prompt;
}

void write_model(const GenerateBench& bench, const std::filesystem::path& folder) {
    const StepBench step{model_of(bench), 1};
    Trainer trainer(trainer_config_of(step), random_training_data(step), bench.threads);
    save_weights(trainer, folder, Json::object(), Tokenizer::bytes());
}

double weight_bytes(const GenerateBench& bench) {
    const TransformerConfig model = model_of(bench);
    return 4.0 * static_cast<double>(model_size(model).parameters - model.max_seqlen * model.width);
}

GenerateRun::GenerateRun(const GenerateBench& bench, const std::filesystem::path& folder) : prompt_(prompt_of(bench)) {
    const TransformerConfig config = model_of(bench);
    const Backend backend{Device::cpu, DType::f32, bench.threads};
    model_ = plan_and_commit(arena_, [&](Arena& arena) {
        return std::make_unique<Transformer>(arena, config, backend, planned_batch(config, bench.samples),
                                             Purpose::inference);
    });
    exec_ = make_exec(backend, arena_);
    load_weights(exec_, *model_, folder);
    generator_ = std::make_unique<Generator>(*model_, exec_, backend, GenerationConfig{.samples = bench.samples});
    tokens_.reserve(static_cast<std::size_t>(bench.tokens));
}

double GenerateRun::run(std::int64_t tokens) {
    tokens_.clear();
    const Clock::time_point start = Clock::now();
    generator_->begin(prompt_);
    for (std::int64_t i = 0; i < tokens; ++i) tokens_.push_back(generator_->step()[0].token);
    return seconds_since(start);
}

}  // namespace deft::engine
