#pragma once
// Log-likelihoods under a trained model, with token dropping off.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/token_corpus.h"
#include "engine/data/tokenizer.h"
#include "engine/models/transformer.h"
#include "experiments/evaluation/metrics.h"
#include "experiments/evaluation/scoring_batches.h"

namespace deft::experiments {

// Called after every batch that the model has seen; what it throws ends the scoring.
using BetweenBatches = std::function<void()>;

// In the requests' order. batch: samples of max_seqlen whose tokens a batch may have.
// Errors: as scored_row().
std::vector<Score> score(engine::Transformer& model, engine::Exec& exec, std::span<const Request> requests,
                         std::int64_t batch, const BetweenBatches& between_batches = {});

struct CorpusLoss {
    double loss = 0;           // mean nats a token
    double bits_per_byte = 0;  // total nats / ln 2 / bytes of text that the targets stand for
    double unigram_entropy = 0;  // of the targets' own frequencies, nats: no predictor without context does better
    std::int64_t tokens = 0;
};

// Over the first samples of the corpus, at most max_tokens tokens (at least one sample), in windows of max_seqlen.
CorpusLoss corpus_loss(engine::Transformer& model, engine::Exec& exec, const engine::TokenCorpus& corpus,
                       const engine::Tokenizer& tokenizer, std::int64_t max_tokens, std::int64_t batch,
                       const BetweenBatches& between_batches = {});

}  // namespace deft::experiments
