#include "experiments/projection.h"

#include <algorithm>

#include "engine/train/accounting.h"
#include "experiments/engine_config.h"

namespace deft::experiments {

namespace {

double one_step_flops(const engine::TrainerConfig& trainer) {
    const engine::StepPlan plan = engine::plan_step(trainer, 0);
    return static_cast<double>(plan.rows) *
           engine::sample_flops(engine::model_size(trainer.model).flops, trainer.techniques, plan);
}

// The largest step counts all tokens of its rows, also where layers drop some.
double growth_of_steps(const engine::TrainerConfig& trainer) {
    const std::int64_t first = engine::step_layer_tokens(engine::plan_step(trainer, 0));
    return static_cast<double>(engine::largest_step(trainer).tokens) /
           static_cast<double>(std::max<std::int64_t>(1, first));
}

engine::PlannedMemory plan_scoring(const TrialConfig& config, engine::Device device) {
    engine::Arena arena(device);
    const engine::Transformer model(arena, trainer_config(config).model, backend_of(config, device, 1),
                                    config.train.micro_batch_size, engine::Purpose::inference);
    return arena.planned();
}

// Memory of training; an imported model is only held.
engine::PlannedMemory plan_trial(const TrialConfig& config, engine::Device device, const engine::RankOf& rank = {}) {
    if (is_imported(config)) return plan_scoring(config, device);
    return engine::plan_memory(trainer_config(config), backend_of(config, device, 1), rank);
}

// Bytes of the last rank.
std::int64_t planned_with(RecomputeChoice choice, TrialConfig config, engine::Device device, int ranks) {
    config.train.recompute = choice;
    return plan_trial(config, device, {ranks - 1, ranks}).bytes;
}

}  // namespace

Projection project(const TrialConfig& config, engine::Device device) {
    const engine::TrainerConfig trainer = trainer_config(config);
    const engine::Counts counts = engine::run_schedule(trainer);
    Projection projection{
        .steps = counts.steps, .input_tokens = counts.input_tokens, .layer_tokens = counts.layer_tokens};
    const engine::ModelSize size = engine::model_size(trainer.model);
    projection.parameters = size.parameters;
    projection.active_parameters = size.active_parameters;
    projection.flops = counts.flops;
    projection.step_flops =
        counts.steps > 0 ? counts.flops / static_cast<double>(counts.steps) : one_step_flops(trainer);
    projection.growth = growth_of_steps(trainer);
    projection.memory_bytes = planned_alone(config, device);
    if (config.train.unknown_epochs > 0) {
        projection.has_steps = false;
        projection.steps = projection.input_tokens = projection.layer_tokens = 0;
        projection.flops = 0;
    }
    return projection;
}

std::vector<UnfinishedGrowth> unfinished_growth(const TrialConfig& config, std::int64_t steps) {
    const std::int64_t baseline_steps = baseline_steps_of(config);
    std::vector<UnfinishedGrowth> unfinished;
    const auto add = [&](const std::string& key, const Growth& growth) {
        const std::int64_t duration = pacing_of(growth, baseline_steps).duration;
        if (duration > steps) unfinished.push_back({key, duration});
    };
    if (config.curriculum)
        for (const CurriculumMetric& metric : config.curriculum->metrics)
            add("curriculum." + metric.metric, metric.growth);
    if (config.token_dropping) add(config.token_dropping->dropper->name, config.token_dropping->growth);
    if (config.batch_ramp) add("batch_ramp", config.batch_ramp->growth);
    return unfinished;
}

void require_ranks(const TrialConfig& config, int ranks) {
    if (is_imported(config)) return;
    const engine::TrainerConfig trainer = trainer_config(config);
    engine::require_expert_ranks(trainer, ranks);
    engine::require_even_rows(trainer, ranks);
}

PlannedBytes planned_bytes(const TrialConfig& config, engine::Device device, int ranks, std::int64_t limit) {
    if (is_imported(config)) return planned_scoring_bytes(config, device);  // by one rank
    engine::require_expert_ranks(trainer_config(config), ranks);
    const std::int64_t of_last = planned_with(chosen_recompute(config, device, ranks, limit), config, device, ranks);
    return {of_last, ranks * of_last};
}

std::int64_t planned_alone(const TrialConfig& config, engine::Device device) {
    return plan_trial(config, device).bytes;
}

RecomputeChoice chosen_recompute(const TrialConfig& config, engine::Device device, int ranks, std::int64_t limit) {
    if (config.train.recompute != RecomputeChoice::automatic) return config.train.recompute;
    if (limit == 0 || is_imported(config)) return RecomputeChoice::none;
    if (ranks > 1) engine::require_expert_ranks(trainer_config(config), ranks);
    for (const RecomputeChoice choice : {RecomputeChoice::none, RecomputeChoice::activation})
        if (planned_with(choice, config, device, ranks) <= limit) return choice;
    return RecomputeChoice::block;
}

std::string memory_table(const TrialConfig& config, engine::Device device) {
    return engine::table_of(plan_trial(config, device));
}

PlannedBytes planned_scoring_bytes(const TrialConfig& config, engine::Device device, int ranks) {
    const std::int64_t bytes = plan_scoring(config, device).bytes;
    return {bytes, ranks * bytes};
}

std::string scoring_memory_table(const TrialConfig& config, engine::Device device) {
    return engine::table_of(plan_scoring(config, device));
}

}  // namespace deft::experiments
