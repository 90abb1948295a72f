#pragma once
// Samples as their difficulty is measured: the tokens of each, without padding.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/token_corpus.h"

namespace deft::engine {

struct SampleSource {
    std::int64_t samples = 0;
    std::int64_t length = 0;  // of the longest sample, with its padding; below 2^31
    std::int32_t vocab = 0;   // tokens are 0 .. vocab - 1
    std::string packing;      // how text became samples; part of a fingerprint
    // The real tokens of a sample. Called from several threads at once.
    std::function<TokenSpan(std::int64_t sample)> tokens;
};

// Sample i is tokens [i * seqlen, i * seqlen + seqlen]: inputs and the last target. Errors: config, for a seqlen below
// 1 or of 2^31 - 1 and more.
SampleSource packed_samples(const TokenCorpus& corpus, std::int64_t seqlen, std::int32_t vocab);

// Rows of equal width, each with `real_length[row]` tokens at its start and padding behind. Errors: config, for lengths
// outside 0 .. width, and for tokens that are not real_length.size() rows.
struct PaddedRows {
    TokenSpan tokens;  // (rows, width)
    std::int64_t width = 0;
    std::vector<std::int32_t> real_length;  // (rows)
    std::shared_ptr<const void> owner;      // keeps `tokens` alive
};
SampleSource padded_samples(PaddedRows rows, std::int32_t vocab);

}  // namespace deft::engine
