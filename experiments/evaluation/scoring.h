#pragma once
// Log-likelihoods under a trained model, with token dropping off.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/token_corpus.h"
#include "engine/data/tokenizer.h"
#include "engine/models/transformer.h"
#include "experiments/evaluation/metrics.h"

namespace deft::experiments {

// A continuation to be scored after a context; the context must not be empty.
struct Request {
    std::vector<std::int32_t> context;
    std::vector<std::int32_t> continuation;
};

// One request as the model sees it, cut to its length; targets outside the continuation are kernels::kIgnoreTarget.
struct ScoredRow {
    std::vector<std::int32_t> input, target;  // of equal length, at most max_seqlen
};

// Errors: as score().
ScoredRow scored_row(const Request& request, std::int64_t max_seqlen);

// Rows of like length, padded on the right, which a causal model never sees.
struct ScoringBatch {
    std::vector<std::size_t> request;          // (B), whose row each is
    std::int64_t length = 0;                   // T, of the longest
    std::vector<std::int32_t> token, target;   // (B, T)

    std::int64_t rows() const { return static_cast<std::int64_t>(request.size()); }
};

// By length, the longest first, so that a batch is padded little. Errors: as score().
std::vector<ScoringBatch> scoring_batches(std::span<const Request> requests, std::int64_t max_seqlen,
                                          std::int64_t batch);

// The last max_seqlen + 1 tokens of context and continuation are kept, as in lm-evaluation-harness: the context is cut
// from the left, the continuation never. Requests of like length share a batch; scores come in the requests' order.
// Errors: config, for a continuation longer than max_seqlen and for an empty context.
std::vector<Score> score(engine::Transformer& model, engine::Exec& exec, std::span<const Request> requests,
                         std::int64_t batch);

struct CorpusLoss {
    double loss = 0;           // mean nats a token
    double bits_per_byte = 0;  // total nats / ln 2 / bytes of text that the targets stand for
    double unigram_entropy = 0;  // of the targets' own frequencies, nats: no predictor without context does better
    std::int64_t tokens = 0;
};

// Over the first samples of the corpus, at most max_tokens tokens (at least one sample), in windows of max_seqlen.
CorpusLoss corpus_loss(engine::Transformer& model, engine::Exec& exec, const engine::TokenCorpus& corpus,
                       const engine::Tokenizer& tokenizer, std::int64_t max_tokens, std::int64_t batch);

}  // namespace deft::experiments
