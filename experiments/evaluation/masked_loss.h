#pragma once
// Losses of masked language modelling and sentence order, on BERT samples that a model has not trained on.

#include <cstdint>

#include "engine/data/bert/samples.h"
#include "engine/models/transformer.h"
#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

struct MaskedLoss {
    double loss = 0;            // mean nats a masked token
    double accuracy = 0;        // share of them that the model holds likeliest
    double target_entropy = 0;  // nats, of their own frequencies
    std::int64_t targets = 0;   // masked tokens
    std::int64_t tokens = 0;    // that the model read, padding counted
    // For the samples with two segments, by a model with a head for their order: mean nats a sample, accuracy,
    // and how many there are; else 0.
    double order_loss = 0, order_accuracy = 0;
    std::int64_t orders = 0;
};

// Over the first samples, at most max_tokens tokens of them at full length (at least one sample), each masked once in a
// way of its own, with every token in every layer. batch: samples of max_seqlen at once. Errors: config, where there is
// no sample or none has a masked token.
MaskedLoss masked_loss(engine::Transformer& model, engine::Exec& exec,
                       const std::shared_ptr<const engine::BertSamples>& samples, std::int64_t max_tokens,
                       std::int64_t batch, const BatchLoop& loop = {});

}  // namespace deft::experiments
