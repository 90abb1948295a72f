#include "experiments/projection.h"

#include "experiments/engine_config.h"

namespace deft::experiments {

Projection project(const TrialConfig& config, engine::Device device) {
    const engine::TrainerConfig trainer = trainer_config(config);
    const engine::Counts counts =
        engine::run_schedule(trainer);
    Projection projection{
        .steps = counts.steps, .input_tokens = counts.input_tokens, .layer_tokens = counts.layer_tokens};
    projection.parameters = engine::model_size(trainer.model).parameters;
    projection.flops = counts.flops;
    projection.memory_bytes = planned_bytes(config, device);
    return projection;
}

std::int64_t planned_bytes(const TrialConfig& config, engine::Device device) {
    return engine::plan_memory(trainer_config(config), backend_of(config, device, 1)).bytes;
}

std::string memory_table(const TrialConfig& config, engine::Device device) {
    return engine::plan_memory(trainer_config(config), backend_of(config, device, 1)).table;
}

namespace {

engine::MemoryPlan plan_scoring(const TrialConfig& config, engine::Device device) {
    engine::Arena arena(device);
    const engine::Transformer model(arena, trainer_config(config).model, backend_of(config, device, 1),
                                    config.train.micro_batch_size, engine::Purpose::inference);
    return {arena.total_bytes(), arena.table()};
}

}  // namespace

std::int64_t planned_scoring_bytes(const TrialConfig& config, engine::Device device) {
    return plan_scoring(config, device).bytes;
}

std::string scoring_memory_table(const TrialConfig& config, engine::Device device) {
    return plan_scoring(config, device).table;
}

}  // namespace deft::experiments
