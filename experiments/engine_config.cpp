#include "experiments/engine_config.h"

#include <cmath>

#include "engine/train/accounting.h"
#include "experiments/curriculum_entries.h"
#include "experiments/datasets/difficulty.h"
#include "experiments/difficulty_column.h"
#include "experiments/model_kinds.h"

namespace deft::experiments {

namespace {

std::vector<std::int32_t> ids(const std::vector<std::int64_t>& values) {
    return {values.begin(), values.end()};
}

engine::TokenDropping dropping_of(const TokenDroppingConfig& dropping, std::int64_t baseline_steps) {
    return {pacing_of(dropping.growth, baseline_steps), ids(dropping.layers), dropping.keep_first, dropping.dropper,
            dropping.settings};
}

engine::VariableBatch variable_batch_of(const VariableBatchConfig& batch) {
    return {batch.max_tokens, batch.min_batch_size, batch.max_batch_size, batch.learning_rate_scaling};
}

// The index of a metric that orders samples.
engine::DifficultyIndex index_of(const CurriculumMetric& metric, const TrialConfig& config, const Dataset& samples,
                                 double& waited_seconds) {
    return metric.column.empty() ? load_difficulty(samples, metric.entry->measure, {}, &waited_seconds)
                                 : open_column(metric, config, samples);
}

// "auto" is none where nobody has chosen by memory, see chosen_recompute().
engine::Recompute recompute_of(RecomputeChoice choice) {
    switch (choice) {
        case RecomputeChoice::activation:
            return engine::Recompute::activation;
        case RecomputeChoice::block:
            return engine::Recompute::block;
        case RecomputeChoice::none:
        case RecomputeChoice::automatic:
            break;
    }
    return engine::Recompute::none;
}

// In layer-averaged tokens; a warm-up in steps takes the tokens of its steps, with techniques applied.
std::int64_t warmup_tokens_of(const TrainConfig& train, const engine::TrainerConfig& trainer) {
    if (train.warmup_steps > 0) return engine::layer_tokens_after(trainer, train.warmup_steps);
    if (train.warmup_share > 0)
        return std::llround(train.warmup_share * static_cast<double>(trainer.budget_layer_tokens));
    return train.warmup_tokens;
}

// trainer: with its batches, techniques and budget.
engine::LearningRate learning_rate_of(const TrainConfig& train, const engine::TrainerConfig& trainer) {
    const double by_budget = train.learning_rate_by_budget == RateByBudget::inverse ? train.budget_fraction : 1;
    return {.max = train.learning_rate / by_budget,
            .min = train.min_learning_rate,
            .warmup_tokens = warmup_tokens_of(train, trainer),
            .decay_tokens = train.decay_tokens > 0 ? train.decay_tokens : trainer.budget_layer_tokens,
            .decay = train.decay,
            .warmup_steps = train.warmup_steps,
            .decay_factor = train.decay_factor,
            .decay_stages = train.decay_stages};
}

}  // namespace

void set_scoring_capacity(engine::TransformerConfig& model, bool keeps) {
    for (engine::BlockConfig& block : model.blocks)
        if (block.experts) block.experts->scores_with_capacity = keeps;
}

engine::OptimizerConfig optimizer_config(const TrainConfig& train) {
    return {.kind = train.optimizer,
            .beta1 = train.beta1,
            .beta2 = train.beta2,
            .eps = train.eps,
            .momentum = train.momentum,
            .weight_decay = train.weight_decay,
            .max_grad_norm = train.max_grad_norm,
            .rounds_moments = train.moments == engine::DType::bf16};
}

engine::Backend backend_of(const TrialConfig& config, engine::Device device, int threads) {
    return {device, config.train.dtype, threads};
}

std::int64_t baseline_steps_of(const TrialConfig& config) {
    const std::int64_t step_tokens = config.train.batch_size * config.model.seqlen;
    return (budget_layer_tokens(config.train) + step_tokens - 1) / step_tokens;
}

engine::TrainerConfig trainer_config(const TrialConfig& config) {
    engine::TrainerConfig trainer;
    trainer.model = transformer_config(config.model, config.data.vocab);
    set_scoring_capacity(trainer.model, scores_under_capacity(config.eval));
    if (config.data.samples == SampleKind::bert) trainer.model.head->target_share = config.data.bert.mask_fraction;
    trainer.batch_size = config.train.batch_size;
    trainer.micro_batch_size = config.train.micro_batch_size;
    trainer.packs_samples = config.train.rows == SampleRows::packed;
    trainer.epoch_samples = config.data.epoch_samples;
    trainer.whole_steps = config.data.labelled.whole_batches > 0;
    trainer.recompute = recompute_of(config.train.recompute);
    trainer.zero = static_cast<int>(config.train.zero);
    trainer.expert_ranks = static_cast<int>(config.train.expert_ranks);
    trainer.budget_layer_tokens = budget_layer_tokens(config.train);
    const std::int64_t baseline_steps = baseline_steps_of(config);

    if (config.curriculum)
        for (const CurriculumMetric& metric : config.curriculum->metrics)
            if (!orders_samples(metric))
                trainer.techniques.*metric.entry->length = pacing_of(metric.growth, baseline_steps);
    if (config.batch_ramp) trainer.techniques.batch_ramp = pacing_of(config.batch_ramp->growth, baseline_steps);
    if (config.variable_batch) trainer.techniques.variable_batch = variable_batch_of(*config.variable_batch);
    if (config.token_dropping) trainer.techniques.dropping = dropping_of(*config.token_dropping, baseline_steps);

    trainer.learning_rate = learning_rate_of(config.train, trainer);
    trainer.optimizer = optimizer_config(config.train);
    trainer.seed = static_cast<std::uint64_t>(config.seed);
    return trainer;
}

std::map<std::string, engine::Pacing> difficulty_pacings(const TrialConfig& config) {
    std::map<std::string, engine::Pacing> pacings;
    if (config.curriculum)
        for (const CurriculumMetric& metric : config.curriculum->metrics)
            if (orders_samples(metric)) pacings[metric.metric] = pacing_of(metric.growth, baseline_steps_of(config));
    return pacings;
}

double add_curriculum(engine::TrainerConfig& trainer, const TrialConfig& config, const Dataset& samples) {
    double waited_seconds = 0;
    if (!config.curriculum) return waited_seconds;
    for (const CurriculumMetric& metric : config.curriculum->metrics)
        if (orders_samples(metric))
            trainer.curricula.push_back({pacing_of(metric.growth, baseline_steps_of(config)),
                                         metric.difficulty == DifficultyUnit::percentile,
                                         index_of(metric, config, samples, waited_seconds), metric.metric});
    return waited_seconds;
}

}  // namespace deft::experiments
