#include "experiments/evaluation/head_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/core/exec.h"
#include "kernels/ceil_div.h"

namespace deft::experiments {

void HeadSums::add(std::span<const float> loss, std::span<const std::int32_t> greedy, const std::int32_t* target) {
    for (std::size_t i = 0; i < loss.size(); ++i) {
        if (target[i] == kernels::kIgnoreTarget) continue;
        nats += static_cast<double>(loss[i]);
        hits += greedy[i] != 0;
        ++targets;
        ++seen[target[i]];
    }
}

double HeadSums::loss() const {
    return nats / static_cast<double>(std::max<std::int64_t>(1, targets));
}

double HeadSums::accuracy() const {
    return static_cast<double>(hits) / static_cast<double>(std::max<std::int64_t>(1, targets));
}

double HeadSums::target_entropy() const {
    double entropy = 0;
    for (const auto& [target, count] : seen) {
        const double p = static_cast<double>(count) / static_cast<double>(targets);
        entropy -= p * std::log(p);
    }
    return entropy;
}

void evaluate_samples(engine::Transformer& model, engine::Exec& exec, const engine::TrainingData& samples,
                      std::int64_t count, std::int64_t batch,
                      const std::function<void(const engine::ModelInput&, const BatchOutcome&)>& each,
                      const BatchLoop& loop) {
    engine::TrainerConfig whole;  // samples, neither cut nor dropped from
    whole.model = model.config();
    whole.batch_size = batch;
    engine::Batches batches(samples, whole, exec.device);
    std::vector<engine::Sampler::Draw> draws;
    std::int64_t staged = -1;
    const auto input_of = [&](std::int64_t number) {
        const std::int64_t first = number * batch, B = std::min(batch, count - first);
        if (staged != number) {
            draws.clear();
            for (std::int64_t b = 0; b < B; ++b) draws.push_back({first + b, 0});
            batches.stage(engine::plan_step(whole.model.extents(), whole.techniques, 0, B), draws, first);
            staged = number;
        }
        return batches.rows(0, B);
    };
    const auto compute = [&](std::int64_t number) {
        const engine::ModelInput input = input_of(number);
        model.load(exec, input);
        model.evaluate(exec, input.B, whole.model.max_seqlen);
        return outcome_of(exec, model, input.B);
    };
    const auto take = [&](std::int64_t number, const BatchOutcome& outcome) { each(input_of(number), outcome); };
    for_each_batch(loop, kernels::ceil_div(count, batch), compute, take);
}

}  // namespace deft::experiments
