#pragma once
// A task's requests as batches for the model: like lengths together, and what the choices of a question begin with
// alike computed once.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/models/transformer.h"

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
    std::vector<std::int32_t> token;     // (B, T), padded on the right, which a causal model never sees
    std::vector<std::int32_t> computed;  // (M): see engine::PackedSamples
    std::vector<std::int32_t> source;    // (B, T)
    std::vector<std::int32_t> scored;    // (R)
    std::vector<std::int32_t> target;    // (R)
    std::vector<std::size_t> request;    // (R): whose target it is

    engine::PackedSamples samples() const { return {rows, length, token, computed, source, scored, target}; }
};

// At most `positions` (at least max_seqlen) a batch, padding included; the longest first. Requests in a row that share
// a quarter of the longer one stay together, where a batch can hold them. Errors: as scored_row().
std::vector<ScoringBatch> scoring_batches(std::span<const Request> requests, std::int64_t max_seqlen,
                                          std::int64_t positions);

}  // namespace deft::experiments
