#pragma once
// Log-likelihoods under a trained model, with token dropping off.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/token_corpus.h"
#include "engine/models/transformer.h"

namespace deft::experiments {

// A continuation to be scored after a context; the context must not be empty.
struct Request {
    std::vector<std::int32_t> context;
    std::vector<std::int32_t> continuation;
};

struct Score {
    double log_likelihood = 0;  // nats, summed over the continuation
    bool greedy = true;         // every token of it has the largest logit at its place
};

// The last max_seqlen + 1 tokens of context and continuation are kept, as in lm-evaluation-harness: the context is cut
// from the left, the continuation never. Errors: config, for a continuation longer than max_seqlen.
std::vector<Score> score(engine::Transformer& model, engine::Exec& exec, std::span<const Request> requests,
                         std::int64_t batch);

struct CorpusLoss {
    double loss = 0;           // mean nats a token
    double bits_per_byte = 0;  // total nats / ln 2 / bytes of text among the targets
    std::int64_t tokens = 0;
};

// Over the first samples of the corpus, at most max_tokens tokens (at least one sample), in windows of max_seqlen.
CorpusLoss corpus_loss(engine::Transformer& model, engine::Exec& exec, const engine::TokenCorpus& corpus,
                       const engine::Tokenizer& tokenizer, std::int64_t max_tokens, std::int64_t batch);

}  // namespace deft::experiments
