#include "experiments/communication.h"

#include <algorithm>
#include <cmath>

#include "engine/train/accounting.h"
#include "engine/train/rank_layout.h"
#include "experiments/engine_config.h"

namespace deft::experiments {

namespace {

using engine::ExchangedValues;
using engine::RankOf;
using engine::Region;

// Choices of experts that all rows of a step make, each time that a row goes to its experts.
std::int64_t visits(const engine::TrainerConfig& trainer, const engine::StepPlan& plan) {
    const auto& dropping = trainer.techniques.dropping;
    const auto& blocks = trainer.model.blocks;
    std::int64_t visits = 0;
    for (std::size_t layer = 0; layer < blocks.size(); ++layer) {
        if (!blocks[layer].experts) continue;
        const bool drops = dropping && std::find(dropping->layers.begin(), dropping->layers.end(),
                                                 static_cast<std::int32_t>(layer)) != dropping->layers.end();
        // The last block still has what a backward pass reads, and is not computed again.
        const bool again = trainer.recompute == engine::Recompute::block && layer + 1 < blocks.size();
        const std::int64_t times = again ? 3 : 2;  // forward, backward, and forward once more
        visits += times * plan.rows * (drops ? plan.kept : plan.seqlen) * blocks[layer].experts->top;
    }
    return visits;
}

struct Schedule {
    engine::StepPlan last;
    double visits = 0;  // of the average step
};

Schedule run(const engine::TrainerConfig& trainer) {
    Schedule schedule{engine::plan_step(trainer, 0), 0};
    std::int64_t tokens = 0, step = 0;
    for (; step == 0 || tokens < trainer.budget_layer_tokens; ++step) {
        schedule.last = engine::plan_step(trainer, step);
        schedule.visits += static_cast<double>(visits(trainer, schedule.last));
        tokens += engine::step_layer_tokens(schedule.last);
    }
    schedule.visits /= static_cast<double>(step);
    return schedule;
}

RankMemory memory_of(const engine::MemoryPlan& plan) {
    const auto region = [&](Region name) { return plan.region_bytes[static_cast<std::size_t>(name)]; };
    std::int64_t weights = 0, experts = 0;  // elements
    for (const ExchangedValues::Weight& weight : plan.exchanged.weights) {
        weights += engine::padded_elements(weight.elements);
        if (weight.of_experts) experts += engine::padded_elements(weight.elements);
    }
    RankMemory memory;
    memory.weights = region(Region::parameters) + region(Region::rounded);
    memory.expert_weights = memory.weights / weights * experts;  // a value, and its rounding, of each
    memory.gradients = region(Region::gradients);
    memory.expert_gradients = memory.gradients / weights * experts;
    memory.moments = region(Region::optimizer);
    memory.activations = region(Region::activations);
    memory.workspace = region(Region::workspace);
    memory.all = plan.bytes;
    return memory;
}

}  // namespace

bool has_experts(const TrialConfig& config) {
    const engine::TransformerConfig model = trainer_config(config).model;
    return std::any_of(model.blocks.begin(), model.blocks.end(),
                       [](const engine::BlockConfig& block) { return block.experts.has_value(); });
}

CommunicationPlan plan_communication(const TrialConfig& config, engine::Device device, int ranks, int expert_ranks) {
    engine::TrainerConfig trainer = trainer_config(config);
    trainer.expert_ranks = expert_ranks;
    engine::require_expert_ranks(trainer, ranks);
    engine::require_even_rows(trainer, ranks);
    const engine::Backend backend = backend_of(config, device, 1);
    const RankOf last{ranks - 1, ranks};
    const Schedule schedule = run(trainer);

    CommunicationPlan plan;
    plan.ranks = ranks;
    plan.expert_ranks = expert_ranks;
    plan.rows = schedule.last.rows / ranks;
    plan.at_once = std::min(plan.rows, engine::rows_at_once(trainer, schedule.last.seqlen));
    engine::StepBytes sent;
    for (const int zero : {0, 1}) {
        trainer.zero = zero;
        const engine::MemoryPlan memory = engine::plan_memory(trainer, backend, last);
        plan.memory[static_cast<std::size_t>(zero)] = memory_of(memory);
        if (zero == config.train.zero)
            sent = engine::planned_step_bytes(memory.exchanged, last, expert_ranks, zero == 1);
    }
    const double leaving = schedule.visits / ranks * (1 - 1.0 / expert_ranks);
    const std::int64_t rows =
        std::llround(leaving * static_cast<double>(trainer.model.width * engine::size_of(backend.dtype)));
    plan.traffic = {sent.gradients_reduced, sent.gathered, rows, rows, sent.sums};
    return plan;
}

}  // namespace deft::experiments
