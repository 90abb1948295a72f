#include "experiments/projection.h"

#include "experiments/engine_config.h"

namespace deft::experiments {

Projection project(const TrialConfig& config, engine::Device device) {
    const engine::TrainerConfig trainer = trainer_config(config);
    const engine::Counts counts =
        engine::run_schedule(trainer.model, trainer.techniques, trainer.batch_size, trainer.budget_layer_tokens);
    return {counts.steps, engine::parameter_count(trainer.model), counts.input_tokens, counts.layer_tokens,
            counts.flops, planned_bytes(config, device)};
}

std::int64_t planned_bytes(const TrialConfig& config, engine::Device device) {
    return engine::plan_memory(trainer_config(config), backend_of(config, device, 1)).bytes;
}

std::string memory_table(const TrialConfig& config, engine::Device device) {
    return engine::plan_memory(trainer_config(config), backend_of(config, device, 1)).table;
}

}  // namespace deft::experiments
