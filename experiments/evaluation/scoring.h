#pragma once
// A task's requests as batches for the model: like lengths together, and what the choices of a question begin with
// alike computed once.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/token_corpus.h"
#include "engine/data/tokenizer.h"
#include "engine/models/transformer.h"
#include "experiments/evaluation/batch_loop.h"
#include "experiments/evaluation/metrics.h"

namespace deft::experiments {

// A continuation to be scored after a context; the context must not be empty.
struct Request {
    std::vector<std::int32_t> context;
    std::vector<std::int32_t> continuation;
};

// One request as the model sees it, cut to its length: the last `scored` positions of the input predict the
// continuation.
struct ScoredRow {
    std::vector<std::int32_t> input, continuation;  // (length) at most max_seqlen, (scored)
};

// The last max_seqlen + 1 tokens of context and continuation are kept, as in lm-evaluation-harness: the context is cut
// from the left, the continuation never. Errors: config, for a continuation longer than max_seqlen and for an empty
// context.
ScoredRow scored_row(const Request& request, std::int64_t max_seqlen);

struct ScoringBatch {
    std::int64_t rows = 0, length = 0;   // B, T
    std::vector<std::int32_t> token;     // (M): see engine::PackedSamples
    std::vector<std::int32_t> position;  // (M)
    std::vector<std::int32_t> computed;  // (M)
    std::vector<std::int32_t> source;    // (B, T)
    std::vector<std::int32_t> scored;    // (R)
    std::vector<std::int32_t> target;    // (R)
    std::vector<std::size_t> request;    // (R): whose target it is

    engine::PackedSamples samples() const { return {rows, length, token, position, computed, source, scored, target}; }
};

// At most `positions` (at least max_seqlen) a batch, padding included; the longest first. Requests in a row that share
// a quarter of the longer one stay together, where a batch can hold them. Errors: as scored_row().
std::vector<ScoringBatch> scoring_batches(std::span<const Request> requests, std::int64_t max_seqlen,
                                          std::int64_t positions);

// Log-likelihoods under a trained model, with token dropping off.

// In the requests' order. batch: samples of max_seqlen whose tokens a batch may have.
// Errors: as scored_row().
std::vector<Score> score(engine::Transformer& model, engine::Exec& exec, std::span<const Request> requests,
                         std::int64_t batch, const BatchLoop& loop = {});

struct CorpusLoss {
    double loss = 0;             // mean nats a token
    double bits_per_byte = 0;    // total nats / ln 2 / bytes of text that the targets encode
    double unigram_entropy = 0;  // of the targets' own frequencies, nats: no predictor without context does better
    std::int64_t tokens = 0;
};

// Over the first samples of the corpus, at most max_tokens tokens (at least one sample), in windows of max_seqlen.
CorpusLoss corpus_loss(engine::Transformer& model, engine::Exec& exec, const engine::TokenCorpus& corpus,
                       const engine::Tokenizer& tokenizer, std::int64_t max_tokens, std::int64_t batch,
                       const BatchLoop& loop = {});

// Long texts scored window by window.

// Windows that predict every token exactly once, as lm-evaluation-harness cuts them (its form of 0.3.0, which fixes a
// window of one token): each predicts at most max_length tokens; the first has the prefix as its context, each later
// one the tokens before it, as many as fit: max_length + 1 less those it predicts. Only the last has a long context.
std::vector<Request> rolling_windows(std::span<const std::int32_t> tokens, std::int32_t prefix,
                                     std::int64_t max_length);

// The request itself where its continuation fits the model, else windows over the continuation, the first after the
// context's last token. Their log-likelihoods add up to the request's.
std::vector<Request> fitting_requests(const Request& request, std::int64_t max_length);

}  // namespace deft::experiments
