#pragma once
// One or two texts as a row to classify: the input of fine-tuning on GLUE (Devlin et al. 2019, section 4.1).

#include <cstdint>
#include <optional>
#include <span>

#include "engine/data/bert/samples.h"

namespace deft::engine {

// [CLS] A [SEP], or [CLS] A [SEP] B [SEP]. Where that is longer than `longest`, the first longest - 1 tokens and a
// [SEP], of type 1 for pairs: as Megatron cuts, from the end of the whole, so that published scores compare. No labels,
// no padding. Errors: config, for a `longest` under 2.
BertSample classification_row(std::span<const std::int32_t> a, std::optional<std::span<const std::int32_t>> b,
                              const WordPieceVocabulary& vocabulary, std::int64_t longest);

}  // namespace deft::engine
