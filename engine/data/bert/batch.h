#pragma once
// Rows of BERT samples for a model: one sample a row and padding behind it, or several packed end to end.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/data/bert/samples.h"

namespace deft::engine {

// Where a sample lies in a batch.
struct BertPlace {
    std::int64_t draw = 0;  // its number in the draws of the batch
    std::int64_t row = 0;
    std::int64_t begin = 0;   // its [CLS], whose output the order head reads
    std::int64_t length = 0;  // real
    std::int32_t order = kernels::kIgnoreTarget;
};

struct BertBatch {
    std::int64_t rows = 0, seqlen = 0;   // B, T
    std::vector<std::int32_t> tokens;    // (B, T), [PAD] where no sample is
    std::vector<std::int32_t> types;     // (B, T)
    std::vector<std::int32_t> labels;    // (B, T)
    std::vector<std::int32_t> position;  // (B, T), from 0 in each sample
    std::vector<std::int32_t> place;     // (B, T), index into `places`, -1 for padding: tokens see those of equal place
    std::vector<BertPlace> places;       // by row, then begin
};

// The longest length, rounded up to a multiple, but not beyond `most`. 0 of none.
std::int64_t row_length(std::span<const std::int64_t> lengths, std::int64_t multiple, std::int64_t most);

// One a row, in order.
std::vector<BertPlace> one_a_row(std::span<const std::int64_t> lengths);

// As few rows of `seqlen` as first fit decreasing finds (at most 11/9 of the fewest and less than one more; Dosa 2007):
// the longest sample first, each into the first row with room. A function of the lengths alone.
// Errors: usage, for a sample longer than a row.
std::vector<BertPlace> packed(std::span<const std::int64_t> lengths, std::int64_t seqlen);

// Reads the draws, cut to `length` each, to where `places` says: places of min(real length, length) each. Buffers keep
// their memory. Errors: usage, for a place that does not fit.
void fill_batch(BertReader& reader, std::span<const BertDraw> draws, std::int64_t length,
                std::span<const BertPlace> places, std::int64_t seqlen, BertBatch& batch);

// Real lengths of the draws when cut to `length`.
std::vector<std::int64_t> cut_lengths(const BertSamples& samples, std::span<const BertDraw> draws, std::int64_t length);

// One or two texts as a row to classify: the input of fine-tuning on GLUE (Devlin et al. 2019, section 4.1).

// [CLS] A [SEP], or [CLS] A [SEP] B [SEP]. Where that is longer than `longest`, the first longest - 1 tokens and a
// [SEP], of type 1 for pairs: as Megatron cuts, from the end of the whole, so that published scores compare. No labels,
// no padding. Errors: config, for a `longest` under 2.
BertSample classification_row(std::span<const std::int32_t> a, std::optional<std::span<const std::int32_t>> b,
                              const WordPieceVocabulary& vocabulary, std::int64_t longest);

}  // namespace deft::engine
