#pragma once
// The difficulty metric voc of a packed corpus, in memory.

#include <cstdint>
#include <vector>

#include "engine/data/token_corpus.h"

namespace deft::engine {

// Of each sample of seqlen + 1 tokens (inputs and the last target): the metric voc, see metric.h.
std::vector<std::int64_t> vocabulary_rarity(const TokenCorpus& corpus, std::int64_t seqlen, std::int32_t vocab);

}  // namespace deft::engine
