#pragma once
// Where BERT's samples begin and end in a corpus: runs of whole sentences of one document, end to end, so that every
// token of the corpus lies in exactly one sample. Built once; sample ids are the same in every epoch.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/data/bert/masking.h"
#include "engine/data/bert/sentence_corpus.h"
#include "kernels/types.h"

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

// BERT's pretraining samples, each a pure function of (seed, epoch, sample id, length):
//
//   [CLS] A [SEP] B [SEP]   two runs of sentences that follow one another in a document, in either order: the sentence
//                           order prediction of Lan et al. 2020 (ALBERT), section 3.1
//   [CLS] A [SEP]           one segment, no order to predict (Liu et al. 2019, RoBERTa: DOC-SENTENCES)

// Targets of the order head; kernels::kIgnoreTarget for a sample of one segment.
inline constexpr std::int32_t kInOrder = 0, kSwapped = 1;

// Its length is the real length: nothing here is padding.
struct BertSample {
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> types;   // 0 up to the first [SEP], 1 after it
    std::vector<std::int32_t> labels;  // kIgnoreTarget where nothing is masked
    std::int32_t order = kernels::kIgnoreTarget;

    std::int64_t length() const { return static_cast<std::int64_t>(tokens.size()); }
};

// The key of a sample's draws. The epoch may be any count that differs between uses of a sample.
struct BertDraw {
    std::int64_t sample = 0;
    std::uint64_t epoch = 0;
};

// Takes from the end of the longer segment, of the second where they are equally long, until both have `room`.
void cut_segments(std::int64_t& a, std::int64_t& b, std::int64_t room);

// Immutable: safe to share between threads.
class BertSamples {
 public:
    // Errors: config, for tokens that the vocabulary lacks, a shape without room, or shares that are none.
    BertSamples(const SentenceCorpus& corpus, std::shared_ptr<const WordPiece> wordpiece, const SampleShape& shape,
                const MaskingRule& masking, std::uint64_t seed);

    std::int64_t size() const { return index_.samples(); }
    const SampleShape& shape() const { return shape_; }
    // Special tokens included; the same in every epoch.
    std::int64_t real_length(std::int64_t sample) const;

    const SampleIndex& index() const { return index_; }
    const std::shared_ptr<const WordPiece>& wordpiece() const { return wordpiece_; }
    const MaskingRule& masking() const { return masking_; }
    std::uint64_t seed() const { return seed_; }

    // Writes the sample before masking, cut to `length` tokens where it is longer: the longer segment loses its end
    // first, every segment keeps its [SEP]. Labels are left as they are. Of the whole sample, the tokens are the same
    // in every epoch but for their order. Errors: usage, for no such sample; config, for a length under
    // shape().shortest_cut().
    void write_unmasked(const BertDraw& draw, std::int64_t length, BertSample& out) const;

    // For difficulty metrics: the tokens of the whole sample before masking, real_length(sample) of them.
    // Errors: usage, for no such sample.
    void write_whole(std::int64_t sample, std::vector<std::int32_t>& out) const;

 private:
    void require_sample(std::int64_t sample) const;

    TokenSpan text_;
    std::shared_ptr<const void> owner_;  // keeps text_ alive
    std::shared_ptr<const WordPiece> wordpiece_;
    SampleShape shape_;
    MaskingRule masking_;
    std::uint64_t seed_;
    SampleIndex index_;
};

// Reads samples into buffers that it keeps: after the first, nothing is allocated. One a thread.
class BertReader {
 public:
    explicit BertReader(const BertSamples& samples);

    const BertSamples& samples() const { return *samples_; }

    // As write_unmasked, then masked: the count of masked tokens is that of the cut sample, at least one. Valid until
    // the next call.
    const BertSample& read(const BertDraw& draw, std::int64_t length);

 private:
    const BertSamples* samples_;
    Masking masking_;
    BertSample sample_;
};

}  // namespace deft::engine
