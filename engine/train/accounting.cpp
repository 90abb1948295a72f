#include "engine/train/accounting.h"

#include <fmt/format.h>

#include "base/error.h"

namespace deft::engine {

double sample_flops(const ModelFlops& model, const Techniques& techniques, const StepPlan& plan) {
    double flops = model.rest.of(plan.seqlen);
    for (const TrainingFlops& block : model.blocks) flops += block.of(plan.seqlen);
    if (techniques.dropping)
        for (const std::int32_t layer : techniques.dropping->layers) {
            const TrainingFlops& block = model.blocks[static_cast<std::size_t>(layer)];
            flops += block.of(plan.kept) - block.of(plan.seqlen);
        }
    return flops;
}

StepTokens planned_tokens(const StepPlan& plan) {
    return {plan.tokens, plan.cut, plan.padding()};
}

std::int64_t step_layer_tokens(const StepPlan& plan) {
    return plan.tokens * plan.layer_tokens / plan.seqlen;
}

void advance(Counts& counts, const ModelFlops& model, const Techniques& techniques, const StepPlan& plan,
             const StepTokens& tokens) {
    counts.steps += 1;
    counts.samples += plan.samples;
    counts.input_tokens += tokens.input;
    counts.cut_tokens += tokens.cut;
    counts.padding_tokens += tokens.padding;
    counts.layer_tokens += step_layer_tokens(plan);
    counts.flops += static_cast<double>(plan.rows) * sample_flops(model, techniques, plan);
}

void advance(Counts& counts, const ModelFlops& model, const Techniques& techniques, const StepPlan& plan) {
    advance(counts, model, techniques, plan, planned_tokens(plan));
}

Counts run_schedule(const TrainerConfig& config) {
    const ModelFlops flops = model_size(config.model).flops;
    Counts counts;
    while (counts.layer_tokens < config.budget_layer_tokens) {
        if (counts.steps == kMostSteps)
            throw Error(
                ErrorKind::config,
                fmt::format("the budget of {} tokens takes more than {} steps", config.budget_layer_tokens, kMostSteps),
                "lower train.budget_tokens or raise train.batch_size");
        advance(counts, flops, config.techniques, plan_step(config, counts.steps));
    }
    return counts;
}

std::int64_t layer_tokens_after(const TrainerConfig& config, std::int64_t steps) {
    std::int64_t tokens = 0;
    for (std::int64_t step = 0; step < steps && tokens < config.budget_layer_tokens; ++step)
        tokens += step_layer_tokens(plan_step(config, step));
    return tokens;
}

void require_even_rows(const StepPlan& plan, std::int64_t step, int ranks) {
    if (plan.rows % ranks != 0)
        throw Error(
            ErrorKind::config,
            fmt::format("the {} rows of step {} cannot be divided by {} ranks", plan.rows, step + 1, ranks),
            "choose train.batch_size as a multiple of the ranks, and no technique that changes the rows of a step",
            "nothing was started");
}

void require_even_rows(const TrainerConfig& config, int ranks) {
    if (ranks == 1) return;
    std::int64_t tokens = 0;
    for (std::int64_t step = 0; tokens < config.budget_layer_tokens; ++step) {
        const StepPlan plan = plan_step(config, step);
        require_even_rows(plan, step, ranks);
        tokens += step_layer_tokens(plan);
    }
}

void UniqueTokens::see(std::int64_t sample, std::int64_t length) {
    std::int32_t& longest = longest_[static_cast<std::size_t>(sample)];
    if (length <= longest) return;
    samples_ += longest == 0;
    count_ += length - longest;
    longest = static_cast<std::int32_t>(length);
}

}  // namespace deft::engine
