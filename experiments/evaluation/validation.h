#pragma once
// The loss on the validation text, as scores.

#include <cstdint>
#include <vector>

#include "base/journal.h"
#include "engine/models/transformer.h"
#include "experiments/datasets/load.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

// Loss, bits per byte, and the entropy of the targets' own frequencies, over at most `tokens` of the text. `batch`: the
// model's largest micro-batch.
std::vector<journal::Evaluation> validation_scores(const Dataset& dataset, engine::Transformer& model,
                                                   engine::Exec& exec, std::int64_t tokens, std::int64_t batch,
                                                   std::int64_t step, const BetweenBatches& between_batches = {});

}  // namespace deft::experiments
