#include "experiments/engine_config.h"

#include <cmath>

#include "experiments/datasets/difficulty.h"

namespace deft::experiments {

namespace {

std::int64_t duration_steps(double fraction, std::int64_t steps, std::int64_t baseline_steps) {
    if (steps > 0) return steps;
    return static_cast<std::int64_t>(std::llround(fraction * static_cast<double>(baseline_steps)));
}

engine::Decay decay_of(const std::string& name) {
    if (name == "constant") return engine::Decay::constant;
    return name == "linear" ? engine::Decay::linear : engine::Decay::cosine;
}

engine::Pacing pacing_of(const CurriculumMetric& metric, std::int64_t baseline_steps) {
    return {metric.min, metric.max, metric.difficulty_step,
            duration_steps(metric.duration, metric.steps, baseline_steps),
            metric.pacing == "root" ? metric.root_degree : 1};
}

std::vector<std::int32_t> ids(const std::vector<std::int64_t>& values) {
    return {values.begin(), values.end()};
}

engine::Routing routing_of(const RoutingConfig& routing, std::int64_t baseline_steps) {
    const engine::Pacing kept{routing.min, routing.max, routing.step,
                              duration_steps(routing.duration, routing.steps, baseline_steps),
                              routing.pacing == "root" ? routing.root_degree : 1};
    return {kept, ids(routing.layers), routing.keep_first, engine::RandomLtd{}};
}

std::int64_t baseline_steps_of(const TrialConfig& config) {
    const std::int64_t step_tokens = config.train.batch_size * config.model.seqlen;
    return (budget_layer_tokens(config.train) + step_tokens - 1) / step_tokens;
}

}  // namespace

engine::Backend backend_of(const TrialConfig& config, engine::Device device, int threads) {
    return {device, config.train.dtype == "bf16" ? engine::DType::bf16 : engine::DType::f32, threads};
}

engine::TrainerConfig trainer_config(const TrialConfig& config) {
    engine::TrainerConfig trainer;
    trainer.model = {config.model.layers, config.model.width, config.model.heads,
                     config.model.seqlen, config.data.vocab, config.model.init_std};
    trainer.batch_size = config.train.batch_size;
    trainer.micro_batch_size = config.train.micro_batch_size;
    trainer.budget_layer_tokens = budget_layer_tokens(config.train);
    const std::int64_t baseline_steps = baseline_steps_of(config);

    trainer.techniques.seqlen = config.model.seqlen;
    trainer.techniques.layers = config.model.layers;
    if (config.curriculum)
        if (const CurriculumMetric* metric = config.curriculum->find("seqtru"))
            trainer.techniques.seqtru = pacing_of(*metric, baseline_steps);
    if (config.random_ltd) trainer.techniques.routing = routing_of(*config.random_ltd, baseline_steps);
    if (const auto& bypass = config.token_bypass) {
        trainer.techniques.routing = routing_of(bypass->routing, baseline_steps);
        trainer.techniques.routing->method = engine::TokenBypass{bypass->decay, ids(bypass->special_tokens)};
    }

    const double by_budget = config.train.learning_rate_by_budget == "inverse" ? config.train.budget_fraction : 1;
    trainer.learning_rate = {config.train.learning_rate / by_budget, config.train.min_learning_rate, config.train.warmup_tokens,
                             config.train.decay_tokens > 0 ? config.train.decay_tokens : trainer.budget_layer_tokens,
                             decay_of(config.train.decay)};
    trainer.optimizer.beta1 = config.train.beta1;
    trainer.optimizer.beta2 = config.train.beta2;
    trainer.optimizer.eps = config.train.eps;
    trainer.optimizer.weight_decay = config.train.weight_decay;
    trainer.optimizer.max_grad_norm = config.train.max_grad_norm;
    trainer.seed = static_cast<std::uint64_t>(config.seed);
    return trainer;
}

void add_curriculum(engine::TrainerConfig& trainer, const TrialConfig& config, const Dataset& dataset) {
    if (!config.curriculum) return;
    for (const CurriculumMetric& metric : config.curriculum->metrics)
        if (needs_index(metric.metric))
            trainer.curricula.push_back({pacing_of(metric, baseline_steps_of(config)), metric.difficulty == "percentile",
                                         load_difficulty(dataset, metric.metric, config.model.seqlen), metric.metric});
}

}  // namespace deft::experiments
