#pragma once
// The loss on what a model was not trained on, as scores.

#include <cstdint>
#include <vector>

#include "base/journal.h"
#include "engine/models/transformer.h"
#include "experiments/datasets/dataset.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

// Over at most `tokens` of the text; `batch`: the model's largest micro-batch. Of every kind the loss, and the entropy
// of the targets' own frequencies. Packed samples: also bits per byte. BERT samples: accuracy and bits of their masked
// tokens. Images: top-1 accuracy; all of those for testing, whatever `tokens` says. Labelled texts: their task's
// metrics of every record, whatever `tokens` says; where there are several splits, of all of them together first, then
// of each.
std::vector<journal::Evaluation> validation_scores(const Dataset& dataset, engine::Transformer& model,
                                                   engine::Exec& exec, std::int64_t tokens, std::int64_t batch,
                                                   std::int64_t step, const BatchLoop& loop = {});

// The loss alone.
struct ValidationLoss {
    double loss = 0;          // mean nats a target
    std::int64_t tokens = 0;  // that the model read
};
ValidationLoss validation_loss(const Dataset& dataset, engine::Transformer& model, engine::Exec& exec,
                               std::int64_t tokens, std::int64_t batch);

}  // namespace deft::experiments
