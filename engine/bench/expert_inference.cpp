#include "engine/bench/expert_inference.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/stopwatch.h"
#include "engine/bench/generate.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

namespace {

constexpr std::uint64_t kInferenceSeed = 1;

TransformerConfig dense_model(const ExpertInferenceBench& bench, std::int64_t times_wider) {
    return model_of(GenerateBench{.layers = bench.layers,
                                  .width = bench.width * times_wider,
                                  .heads = bench.heads * times_wider,
                                  .vocab = bench.vocab,
                                  .prompt = bench.prompt,
                                  .tokens = bench.tokens});
}

// A model of random weights with what generates from it.
struct Generating {
    Generating(const ExpertInferenceBench& bench, const TransformerConfig& config, std::int64_t samples,
               Purpose purpose, Arena& arena, Exec& exec) {
        const Backend backend{Device::cpu, DType::f32, bench.threads};
        model = plan_and_commit(arena, [&](Arena& a) {
            return std::make_unique<Transformer>(a, config, backend, planned_batch(config, samples), purpose);
        });
        exec = make_exec(backend, arena);
        initialise(exec, model->parameters(), kInferenceSeed, config.init_std, config.layers());
        generator = std::make_unique<Generator>(
            *model, exec, backend,
            GenerationConfig{.samples = samples, .sampling = {.temperature = 1, .seed = kInferenceSeed}});
    }

    std::unique_ptr<Transformer> model;
    std::unique_ptr<Generator> generator;
};

std::vector<std::int32_t> prompt_of(const ExpertInferenceBench& bench) {
    return prompt_of(GenerateBench{.vocab = bench.vocab, .prompt = bench.prompt});
}

std::int64_t touched(const Experts& experts) {
    std::int64_t count = 0;
    const auto* const start = experts.start().as<std::int32_t>();
    for (std::int64_t e = 0; e < experts.config().count; ++e) count += start[e + 1] > start[e];
    return count;
}

}  // namespace

std::vector<InferenceModel> inference_models(const ExpertInferenceBench& bench) {
    if (bench.layers % 2 != 0)
        throw Error(ErrorKind::config, fmt::format("{} layers have no experts in every second one", bench.layers),
                    "choose an even number of layers");
    if (bench.top > bench.experts)
        throw Error(ErrorKind::config, fmt::format("a row cannot take {} of {} experts", bench.top, bench.experts),
                    "choose as many experts or more");
    TransformerConfig experts = dense_model(bench, 1);
    for (std::size_t layer = 1; layer < experts.blocks.size(); layer += 2)
        experts.blocks[layer].experts = ExpertsConfig{.count = bench.experts, .top = bench.top};
    return {{"dense", dense_model(bench, 1)}, {"experts", experts}, {"dense, 4x", dense_model(bench, 2)}};
}

InferenceRun::InferenceRun(const ExpertInferenceBench& bench, const TransformerConfig& config, std::int64_t samples)
    : bench_(bench), config_(config), samples_(samples) {
    Generating made(bench, config, samples, Purpose::inference, arena_, exec_);
    model_ = std::move(made.model);
    generator_ = std::move(made.generator);
}

double InferenceRun::run() {
    generator_->begin(prompt_of(bench_));
    generator_->step();
    const Clock::time_point start = Clock::now();
    for (std::int64_t i = 1; i < bench_.tokens; ++i) generator_->step();
    return seconds_since(start);
}

WeightsRead InferenceRun::weights_read() const {
    // Planned for training, for then each layer keeps its experts' rows; the texts are those of run().
    Arena arena;
    Exec exec;
    const Generating counting(bench_, config_, samples_, Purpose::training, arena, exec);
    counting.generator->begin(prompt_of(bench_));
    counting.generator->step();
    const std::int64_t without_positions = model_size(config_).parameters - config_.max_seqlen * config_.width;
    std::int64_t layers = 0, touched_in_all = 0;
    double parameters = 0;
    for (std::int64_t i = 1; i < bench_.tokens; ++i) {
        counting.generator->step();
        std::int64_t read = without_positions;
        layers = 0;
        for (const Block& block : counting.model->blocks()) {
            const Experts* const experts = block.experts();
            if (experts == nullptr) continue;
            ++layers;
            touched_in_all += touched(*experts);
            read -= (experts->config().count - touched(*experts)) * experts->parameters_of_expert();
        }
        parameters += static_cast<double>(read);
    }
    const auto passes = static_cast<double>(bench_.tokens - 1);
    return {4 * parameters / passes,
            layers == 0 ? 0 : static_cast<double>(touched_in_all) / (passes * static_cast<double>(layers))};
}

}  // namespace deft::engine
