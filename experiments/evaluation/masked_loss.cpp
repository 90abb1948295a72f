#include "experiments/evaluation/masked_loss.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "engine/core/exec.h"
#include "engine/train/batches.h"

namespace deft::experiments {

namespace {

// What a head has lost over its targets, and how many of them it holds likeliest.
struct HeadSums {
    double nats = 0;
    std::int64_t hits = 0, targets = 0;

    // loss and greedy, of the shape that target (n) is laid out in
    void add(engine::Exec& exec, const engine::Tensor& loss, const engine::Tensor& greedy, const std::int32_t* target) {
        const auto losses = engine::host_copy<float>(exec, loss);
        const auto greedy_hits = engine::host_copy<std::int32_t>(exec, greedy);
        for (std::size_t i = 0; i < losses.size(); ++i) {
            if (target[i] == kernels::kIgnoreTarget) continue;
            nats += static_cast<double>(losses[i]);
            hits += greedy_hits[i] != 0;
            ++targets;
        }
    }
    double loss() const { return nats / static_cast<double>(std::max<std::int64_t>(1, targets)); }
    double accuracy() const { return static_cast<double>(hits) / static_cast<double>(std::max<std::int64_t>(1, targets)); }
};

}  // namespace

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
    HeadSums masked, order;
    std::int64_t tokens = 0;
    for (std::int64_t first = 0; first < count; first += batch) {
        const std::int64_t B = std::min(batch, count - first);
        draws.clear();
        for (std::int64_t b = 0; b < B; ++b) draws.push_back({first + b, 0});
        batches.stage(engine::plan_step(whole.model.extents(), whole.techniques, 0, B), draws, first);
        const engine::ModelInput input = batches.rows(0, B);
        model.load(exec, input);
        model.evaluate(exec, B, T);
        masked.add(exec, model.loaded(model.loss), model.loaded(model.greedy), input.target);
        if (model.class_loss)
            order.add(exec, model.class_loss.view({B}), model.class_greedy.view({B}), input.class_target);
        tokens += B * T;
        if (between_batches) between_batches();
    }
    if (masked.targets == 0)
        throw Error(ErrorKind::config, "the validation text has no token that could be masked",
                    "supply more validation text");
    return {masked.loss(), masked.accuracy(), masked.targets, tokens, order.loss(), order.accuracy(), order.targets};
}

}  // namespace deft::experiments
