#include "experiments/draws.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/data/bert/batch.h"
#include "experiments/engine_config.h"
#include "kernels/types.h"

namespace deft::experiments {

namespace {

constexpr std::int64_t kRowMultiple = 8;

std::int64_t sum(const std::vector<std::int64_t>& lengths) {
    std::int64_t total = 0;
    for (const std::int64_t length : lengths) total += length;
    return total;
}

// The samples of a step, one a row, cut to `length`.
void add_bert_rows(DrawTotals& totals, engine::BertReader& reader, const std::vector<engine::BertDraw>& draws,
                   std::int64_t length) {
    const engine::BertSamples& samples = reader.samples();
    const std::vector<std::int64_t> lengths = engine::cut_lengths(samples, draws, length);
    const std::int64_t row = engine::row_length(lengths, kRowMultiple, length), real = sum(lengths);
    totals.tokens += real;
    totals.padding_tokens += row * static_cast<std::int64_t>(draws.size()) - real;
    totals.cut_tokens += sum(engine::cut_lengths(samples, draws, samples.shape().seqlen)) - real;
    for (const engine::BertDraw& draw : draws) {
        const std::vector<std::int32_t>& labels = reader.read(draw, length).labels;
        totals.masked_tokens +=
            static_cast<std::int64_t>(labels.size()) - std::count(labels.begin(), labels.end(), kernels::kIgnoreTarget);
    }
}

// Each draw has a number of its own, which tells the times apart that a sample is used.
std::vector<engine::BertDraw> numbered(const std::vector<engine::Sampler::Draw>& draws, std::int64_t first) {
    std::vector<engine::BertDraw> bert;
    for (const engine::Sampler::Draw& draw : draws) bert.push_back({draw.sample, static_cast<std::uint64_t>(first++)});
    return bert;
}

}  // namespace

DrawTotals simulate_draws(const TrialConfig& config, const CorpusSamples& samples, const PrepareProgress& progress) {
    engine::TrainerConfig trainer = trainer_config(config);
    add_curriculum(trainer, config, samples);
    const engine::Sampler sampler = engine::make_sampler(trainer, samples.source.samples);
    engine::UniqueTokens unique(samples.source.samples);
    std::optional<engine::BertReader> reader;
    if (samples.bert) reader.emplace(*samples.bert);

    DrawTotals totals;
    totals.first_pool = sampler.pool_size(0);
    const engine::ModelFlops flops = engine::model_size(trainer.model).flops;
    engine::Counts counts;
    std::vector<engine::Sampler::Draw> draws;
    while (counts.layer_tokens < trainer.budget_layer_tokens) {
        const engine::StepPlan plan = engine::plan_step(trainer.techniques, counts.steps, trainer.batch_size);
        draws.resize(static_cast<std::size_t>(plan.samples));
        sampler.fill(counts.samples, draws);
        for (const engine::Sampler::Draw& draw : draws) unique.see(draw.sample, plan.seqlen);
        if (reader) add_bert_rows(totals, *reader, numbered(draws, counts.samples), plan.seqlen);
        engine::count_draws(counts, draws, sampler);
        engine::advance(counts, flops, trainer.techniques, plan);
        if (progress && counts.steps % 1024 == 0)
            progress("drawing samples",
                     static_cast<double>(counts.layer_tokens) / static_cast<double>(trainer.budget_layer_tokens));
    }
    totals.steps = counts.steps;
    if (!reader) {
        totals.tokens = counts.input_tokens;
        totals.padding_tokens = counts.padding_tokens;
        totals.cut_tokens = counts.cut_tokens;
    }
    totals.sampling = engine::sampling_statistics(counts, unique, sampler);
    return totals;
}

}  // namespace deft::experiments
