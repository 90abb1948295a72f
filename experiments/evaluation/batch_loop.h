#pragma once
// How a model is evaluated batch by batch, and by which ranks.

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/core/exec.h"
#include "engine/models/transformer.h"

namespace deft::experiments {

struct BatchLoop {
    // Called after every batch that the model has seen; what it throws ends the scoring. Of several ranks all call it
    // as often.
    std::function<void()> between_batches = {};
    engine::Communicator ranks = {};  // that share the batches out; all have the same model and samples
};

// Outputs of a model's heads for one batch of B rows; empty for a head that it lacks.
struct BatchOutcome {
    std::vector<float> loss;                 // as the target was loaded
    std::vector<std::int32_t> greedy;        // of the same shape: 1 where the target is held likeliest
    std::vector<float> class_loss;           // (B)
    std::vector<std::int32_t> class_greedy;  // (B)
    std::vector<float> value;                // (B)
};
// For the last batch that was loaded and evaluated.
BatchOutcome outcome_of(engine::Exec& exec, const engine::Transformer& model, std::int64_t B);

// Batches 0 to count - 1: each is computed on one rank, by turns, and its outcome is taken on all of them, in the order
// of batches: sums have the same bits on any number of ranks. A rank for which none is left computes the last one too:
// ranks that divide a model's experts compute together.
void for_each_batch(const BatchLoop& loop, std::int64_t count, const std::function<BatchOutcome(std::int64_t)>& compute,
                    const std::function<void(std::int64_t, const BatchOutcome&)>& take);

}  // namespace deft::experiments
