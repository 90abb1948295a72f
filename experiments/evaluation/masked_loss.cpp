#include "experiments/evaluation/masked_loss.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "engine/core/exec.h"
#include "engine/train/batches.h"

namespace deft::experiments {

MaskedLoss masked_loss(engine::Transformer& model, engine::Exec& exec,
                       const std::shared_ptr<const engine::BertSamples>& samples, std::int64_t max_tokens,
                       std::int64_t batch, const BetweenBatches& between_batches) {
    engine::TrainerConfig whole;  // samples, neither cut nor dropped from
    whole.model = model.config();
    whole.batch_size = batch;
    const std::int64_t T = whole.model.max_seqlen;
    const std::int64_t count = std::min(samples->size(), std::max<std::int64_t>(1, max_tokens / T));
    engine::Batches batches(samples, whole, exec.device);
    std::vector<engine::Sampler::Draw> draws;
    MaskedLoss result;
    double nats = 0;
    std::int64_t hits = 0;
    for (std::int64_t first = 0; first < count; first += batch) {
        const std::int64_t B = std::min(batch, count - first);
        draws.clear();
        for (std::int64_t b = 0; b < B; ++b) draws.push_back({first + b, 0});
        batches.stage(engine::plan_step(whole.model.extents(), whole.techniques, 0, B), draws, first);
        const engine::ModelInput input = batches.rows(0, B);
        model.load(exec, input);
        model.evaluate(exec, B, T);
        const auto loss = engine::host_copy<float>(exec, model.loss.view({B, T}));             // (B, T)
        const auto greedy = engine::host_copy<std::int32_t>(exec, model.greedy.view({B, T}));  // (B, T)
        for (std::size_t i = 0; i < loss.size(); ++i) {
            if (input.target[i] == kernels::kIgnoreTarget) continue;
            nats += static_cast<double>(loss[i]);
            hits += greedy[i] != 0;
        }
        result.targets += batches.targets();
        result.tokens += B * T;
        if (between_batches) between_batches();
    }
    if (result.targets == 0)
        throw Error(ErrorKind::config, "the validation text has no token that could be masked",
                    "supply more validation text");
    result.loss = nats / static_cast<double>(result.targets);
    result.accuracy = static_cast<double>(hits) / static_cast<double>(result.targets);
    return result;
}

}  // namespace deft::experiments
