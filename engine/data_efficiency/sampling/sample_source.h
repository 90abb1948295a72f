#pragma once
// Samples as their difficulty is measured: the tokens of each, without padding.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/bert/samples.h"
#include "engine/data/token_corpus.h"

namespace deft::engine {

struct SampleSource {
    std::int64_t samples = 0;
    std::int64_t length = 0;  // of the longest sample, with its padding; below 2^31
    std::int32_t vocab = 0;   // tokens are 0 .. vocab - 1
    std::string packing;      // how text became samples; part of a fingerprint
    // The real tokens of a sample, in the corpus or, where samples are put together, in `scratch`: valid until that is
    // used again. Called from several threads at once, each with a scratch of its own.
    std::function<TokenSpan(std::int64_t sample, std::vector<std::int32_t>& scratch)> tokens;
};

// Sample i is tokens [i * seqlen, i * seqlen + seqlen]: inputs and the last target. Errors: config, for a seqlen below
// 1 or of 2^31 - 1 and more.
SampleSource packed_samples(const TokenCorpus& corpus, std::int64_t seqlen, std::int32_t vocab);

// BERT's samples, whole and unmasked, special tokens counted.
SampleSource bert_samples(std::shared_ptr<const BertSamples> samples);

}  // namespace deft::engine
