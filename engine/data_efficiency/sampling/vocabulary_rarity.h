#pragma once
// The difficulty metric voc: how rare a sample's words are.

#include <cstdint>
#include <vector>

#include "engine/data/token_corpus.h"

namespace deft::engine {

// Of each sample of seqlen + 1 tokens (inputs and the last target): trunc(sum over its tokens of -ln p), with p the
// frequency of a token among all samples' tokens. Not divided by the length. Source: arXiv 2212.03597, section 3.1, as
// the published code computes it. The order of summation is fixed: the same on any machine with the same libm.
std::vector<std::int64_t> vocabulary_rarity(const TokenCorpus& corpus, std::int64_t seqlen, std::int32_t vocab);

}  // namespace deft::engine
