#pragma once
// Where BERT's samples begin and end in a corpus: runs of whole sentences of one document, end to end, so that every
// token of the corpus lies in exactly one sample. Built once; sample ids are the same in every epoch.

#include <cstdint>
#include <vector>

#include "engine/data/bert/sentence_corpus.h"

namespace deft::engine {

struct SampleShape {
    std::int64_t seqlen = 512;  // the longest sample, special tokens included
    bool pairs = true;          // [CLS] A [SEP] B [SEP]; else [CLS] A [SEP]
    double short_probability = 0.1;

    std::int64_t special_tokens() const { return pairs ? 3 : 2; }
    std::int64_t room() const { return seqlen - special_tokens(); }  // for text
    // The shortest length that samples can be cut to: a token in each segment.
    std::int64_t shortest_cut() const { return pairs ? 5 : 3; }
};

struct SampleIndex {
    // (sentences + 1), in tokens. A sentence that is too long is several here, of lengths that differ by one at most,
    // which may part a word: for pairs none is over half the room, so that any two in a row fit one sample.
    std::vector<std::int64_t> sentence_start{0};
    std::vector<std::int64_t> sample_start{0};  // (samples + 1), in sentences

    std::int64_t samples() const { return static_cast<std::int64_t>(sample_start.size()) - 1; }
    std::int64_t sentences_of(std::int64_t sample) const;
    std::int64_t first_token(std::int64_t sample) const;
    std::int64_t tokens_of(std::int64_t sample) const;  // of text
};

// A sample takes sentences as long as they fit, or, with short_probability, up to a target drawn from 2 .. room (Devlin
// et al. 2019: fine-tuning meets short texts); for pairs it takes two at least. The last sentence of a document does
// not become a pair's sample of its own if it fits the sample before, or if that can spare a sentence to go with it. A
// sample of one sentence, and every sample without pairs, has one segment.
// Errors: config, for a seqlen without room for a token in each segment.
SampleIndex index_samples(const SentenceCorpus& corpus, const SampleShape& shape, std::uint64_t seed);

}  // namespace deft::engine
