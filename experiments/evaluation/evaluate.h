#pragma once
// All scores of a trained model that its configuration asks for, as journal records.

#include <vector>

#include "base/journal.h"
#include "engine/models/transformer.h"
#include "experiments/config.h"
#include "experiments/datasets/load.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

// Validation loss and bits per byte, then each task of config.eval.tasks. `batch`: the model's largest micro-batch.
std::vector<journal::Evaluation> evaluate(const TrialConfig& config, const Dataset& dataset, engine::Transformer& model,
                                          engine::Exec& exec, std::int64_t batch, std::int64_t step,
                                          const BetweenBatches& between_batches = {});

}  // namespace deft::experiments
