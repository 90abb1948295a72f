#pragma once
// Results of a model's heads on samples that it has not trained on, one after the other.

#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include "engine/models/transformer.h"
#include "engine/train/batches.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

// Loss of a head over its targets, and the number of them that it predicts.
struct HeadSums {
    double nats = 0;
    std::int64_t hits = 0, targets = 0;
    std::map<std::int32_t, std::int64_t> seen;  // how often each target

    // loss, greedy and target (n)
    void add(std::span<const float> loss, std::span<const std::int32_t> greedy, const std::int32_t* target);
    // Means over the targets; 0 where there is none.
    double loss() const;
    double accuracy() const;
    // Nats: of the targets' own frequencies, which a model reaches that knows nothing else.
    double target_entropy() const;
};

// Evaluates the first `count` samples, with every token in every layer, at most `batch` at once, and calls `each` for
// every batch, with its input and outcome. A sample's number is that of its draw.
void evaluate_samples(engine::Transformer& model, engine::Exec& exec, const engine::TrainingData& samples,
                      std::int64_t count, std::int64_t batch,
                      const std::function<void(const engine::ModelInput&, const BatchOutcome&)>& each,
                      const BatchLoop& loop);

}  // namespace deft::experiments
