#pragma once
// Where BERT samples lie in the rows of a model, and texts to classify as such rows.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/data/bert/samples.h"

namespace deft::engine {

// Where a sample lies among rows that several share.
struct BertPlace {
    std::int64_t draw = 0;  // its number in the draws of the step
    std::int64_t row = 0;
    std::int64_t begin = 0;
    std::int64_t length = 0;  // real
};

// As few rows of `seqlen` as first fit decreasing finds (at most 11/9 of the fewest and less than one more; Dosa 2007):
// the longest sample first, each into the first row with room. A function of the real lengths alone; ordered by row,
// then begin. Errors: usage, for a sample longer than a row.
std::vector<BertPlace> packed(std::span<const std::int64_t> lengths, std::int64_t seqlen);

// One or two texts as a row to classify: the input of fine-tuning on GLUE (Devlin et al. 2019, section 4.1).

// [CLS] A [SEP], or [CLS] A [SEP] B [SEP]. Where that is longer than `longest`, the first longest - 1 tokens and a
// [SEP], of type 1 for pairs: as Megatron cuts, from the end of the whole, so that published scores compare. No labels,
// no padding. Errors: config, for a `longest` under 2.
BertSample classification_row(std::span<const std::int32_t> a, std::optional<std::span<const std::int32_t>> b,
                              const WordPieceVocabulary& vocabulary, std::int64_t longest);

}  // namespace deft::engine
