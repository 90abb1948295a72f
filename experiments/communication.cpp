#include "experiments/communication.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "engine/train/accounting.h"
#include "experiments/engine_config.h"
#include "experiments/projection.h"

namespace deft::experiments {

namespace {

using engine::ExchangedValues;
using engine::RankOf;
using engine::Region;

void require_expert_ranks(const engine::TransformerConfig& model, int ranks, int expert_ranks) {
    if (expert_ranks == 1) return;
    const auto refuse = [](const std::string& what, const std::string& fix) {
        throw Error(ErrorKind::config, what, fix, "nothing was planned");
    };
    if (ranks % expert_ranks != 0)
        refuse(fmt::format("{} cannot be divided into groups of {} expert ranks", counted(ranks, "rank"), expert_ranks),
               "choose expert ranks that divide the ranks");
    bool any = false;
    for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) {
        const auto& experts = model.blocks[layer].experts;
        if (!experts) continue;
        any = true;
        if (experts->count % expert_ranks != 0)
            refuse(fmt::format("the {} experts of layer {} cannot be divided among {} ranks", experts->count, layer,
                               expert_ranks),
                   "choose expert ranks that divide the experts of every layer");
    }
    if (!any)
        refuse(fmt::format("{} expert ranks divide experts, and this model has none", expert_ranks),
               "leave expert ranks out, or set model.experts");
}

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

// Elements of this rank: with all experts of its own, or those with moments on it.
struct Elements {
    std::int64_t weights = 0, shared = 0;
};

Elements elements_of(const ExchangedValues& values, const RankOf& rank, int expert_ranks) {
    Elements elements;
    for (const engine::PlannedGroup& group : engine::planned_groups(values, rank, expert_ranks)) {
        elements.weights += group.elements;
        elements.shared += group.own();
    }
    return elements;
}

std::int64_t expert_elements(const ExchangedValues& values, int expert_ranks) {
    std::int64_t elements = 0;
    for (const ExchangedValues::Weight& weight : values.weights)
        if (weight.of_experts) elements += engine::padded_elements(weight.elements / expert_ranks);
    return elements;
}

// From what the engine plans for a rank that has all experts, less what others then have.
RankMemory memory_of(const engine::MemoryPlan& plan, const RankOf& rank, int expert_ranks, int zero, int moments) {
    const ExchangedValues& values = plan.exchanged;
    const auto region = [&](Region name) { return plan.region_bytes[static_cast<std::size_t>(name)]; };
    const Elements whole = elements_of(values, rank, 1), here = elements_of(values, rank, expert_ranks);
    const std::int64_t elsewhere = whole.weights - here.weights;
    const std::int64_t experts = expert_elements(values, expert_ranks);
    // Of one weight: its value, and its rounding, which has as many elements.
    const std::int64_t held = region(Region::parameters) + region(Region::rounded);
    const std::int64_t held_bytes = held / whole.weights;

    RankMemory memory;
    memory.expert_weights = experts * held_bytes;
    memory.weights = held - elsewhere * held_bytes;
    memory.expert_gradients = experts * values.weight_bytes;
    memory.gradients = region(Region::gradients) - elsewhere * values.weight_bytes;
    const std::int64_t moments_elsewhere = zero == 1 ? whole.shared - here.shared : elsewhere;
    const std::int64_t moment_bytes_elsewhere = moments_elsewhere * moments * values.weight_bytes;
    memory.moments = region(Region::optimizer) - moment_bytes_elsewhere;
    memory.activations = region(Region::activations);
    memory.workspace = region(Region::workspace);
    memory.all = plan.bytes - elsewhere * (held_bytes + values.weight_bytes) - moment_bytes_elsewhere;
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
    require_expert_ranks(trainer.model, ranks, expert_ranks);
    require_ranks(config, ranks);
    const engine::Backend backend = backend_of(config, device, 1);
    const RankOf last{ranks - 1, ranks};
    const Schedule schedule = run(trainer);

    CommunicationPlan plan;
    plan.ranks = ranks;
    plan.expert_ranks = expert_ranks;
    plan.rows = schedule.last.rows / ranks;
    plan.at_once = std::min(plan.rows, engine::rows_at_once(trainer, schedule.last.seqlen));
    const int moments = engine::moments_of(trainer.optimizer.kind);
    engine::StepBytes sent;
    for (const int zero : {0, 1}) {
        trainer.zero = zero;
        const engine::MemoryPlan memory = engine::plan_memory(trainer, backend, last);
        plan.memory[static_cast<std::size_t>(zero)] = memory_of(memory, last, expert_ranks, zero, moments);
        sent = engine::planned_step_bytes(memory.exchanged, last, expert_ranks);
    }
    const double leaving = schedule.visits / ranks * (1 - 1.0 / expert_ranks);
    const std::int64_t rows =
        std::llround(leaving * static_cast<double>(trainer.model.width * engine::size_of(backend.dtype)));
    plan.traffic = {sent.gradients_reduced, sent.gathered, rows, rows, sent.sums};
    return plan;
}

}  // namespace deft::experiments
