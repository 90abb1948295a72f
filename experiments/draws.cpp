#include "experiments/draws.h"

#include <optional>
#include <vector>

#include "engine/train/batches.h"
#include "experiments/engine_config.h"

namespace deft::experiments {

DrawTotals simulate_draws(const TrialConfig& config, const Dataset& samples, const PrepareProgress& progress) {
    engine::TrainerConfig trainer = trainer_config(config);
    add_curriculum(trainer, config, samples);
    const engine::Sampler sampler = engine::make_sampler(trainer, samples.source.samples);
    engine::UniqueTokens unique(samples.source.samples);
    std::optional<engine::Batches> bert;  // what packed samples fill is known without reading them
    const SampleKind kind = config.data.samples;
    if (kind == SampleKind::bert || kind == SampleKind::labelled)
        bert.emplace(samples.train, trainer, engine::Device::cpu);

    DrawTotals totals;
    totals.first_pool = sampler.pool_size(0);
    const engine::ModelFlops flops = engine::model_size(trainer.model).flops;
    engine::Counts counts;
    std::vector<engine::Sampler::Draw> draws;
    while (counts.layer_tokens < trainer.budget_layer_tokens) {
        const engine::StepPlan plan = engine::plan_step(trainer, counts.steps);
        draws.resize(static_cast<std::size_t>(plan.samples));
        const std::int64_t first = engine::first_draw(trainer, counts.steps, counts.samples);
        sampler.fill(first, draws);
        for (const engine::Sampler::Draw& draw : draws) unique.see(draw.sample, plan.seqlen);
        engine::StepTokens tokens = engine::planned_tokens(plan);
        if (bert) {
            bert->stage(plan, draws, first);
            tokens = bert->tokens();
            totals.masked_tokens += bert->targets().tokens;
        }
        engine::count_draws(counts, draws, sampler);
        engine::advance(counts, flops, trainer.techniques, plan, tokens);
        if (progress && counts.steps % 1024 == 0)
            progress("drawing samples",
                     static_cast<double>(counts.layer_tokens) / static_cast<double>(trainer.budget_layer_tokens));
    }
    totals.steps = counts.steps;
    totals.tokens = counts.input_tokens;
    totals.padding_tokens = counts.padding_tokens;
    totals.cut_tokens = counts.cut_tokens;
    totals.sampling = engine::sampling_statistics(counts, unique, sampler);
    return totals;
}

}  // namespace deft::experiments
