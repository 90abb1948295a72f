#pragma once
// Learns a byte-level BPE vocabulary: the most frequent pair merges, again and again (Sennrich et al. 2016, algorithm
// 1), over GPT-2's pieces.

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/data/bpe/bpe.h"

namespace deft::engine {

// Ids as GPT-2's: 0-255 the bytes in the alphabet's order, 256 + i the i-th merge, vocab - 1 the end of a document.
// Among equally frequent pairs, the one with the smallest left id merges, then the smallest right id; overlapping
// occurrences count ("aaa" has two pairs). So the result depends on the texts and `vocab` alone, not on their order.
// Errors: config, where vocab is below 257, or the texts give fewer entries (the message says how many).
BpeVocabulary train_bpe_vocabulary(std::span<const std::string_view> documents, std::int32_t vocab);

Bpe train_bpe(std::span<const std::string_view> documents, std::int32_t vocab);

}  // namespace deft::engine
