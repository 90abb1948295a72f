#include "experiments/evaluation/head_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/core/exec.h"

namespace deft::experiments {

void HeadSums::add(engine::Exec& exec, const engine::Tensor& loss, const engine::Tensor& greedy,
                   const std::int32_t* target) {
    const auto losses = engine::host_copy<float>(exec, loss);
    const auto greedy_hits = engine::host_copy<std::int32_t>(exec, greedy);
    for (std::size_t i = 0; i < losses.size(); ++i) {
        if (target[i] == kernels::kIgnoreTarget) continue;
        nats += static_cast<double>(losses[i]);
        hits += greedy_hits[i] != 0;
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
                      const std::function<void(const engine::ModelInput&)>& each,
                      const BetweenBatches& between_batches) {
    engine::TrainerConfig whole;  // samples, neither cut nor dropped from
    whole.model = model.config();
    whole.batch_size = batch;
    engine::Batches batches(samples, whole, exec.device);
    std::vector<engine::Sampler::Draw> draws;
    for (std::int64_t first = 0; first < count; first += batch) {
        const std::int64_t B = std::min(batch, count - first);
        draws.clear();
        for (std::int64_t b = 0; b < B; ++b) draws.push_back({first + b, 0});
        batches.stage(engine::plan_step(whole.model.extents(), whole.techniques, 0, B), draws, first);
        const engine::ModelInput input = batches.rows(0, B);
        model.load(exec, input);
        model.evaluate(exec, B, whole.model.max_seqlen);
        each(input);
        if (between_batches) between_batches();
    }
}

}  // namespace deft::experiments
