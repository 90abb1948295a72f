#pragma once
// Made-up tokens that are as unevenly frequent as words are.

#include <cstdint>
#include <vector>

namespace deft::engine {

// Ranks follow Zipf's law; ids are shuffled, so that frequent ones are no neighbours. Token: std::int32_t, or
// std::uint16_t for a vocab of at most 65536.
template <class Token>
std::vector<Token> zipf_tokens(std::int64_t count, std::int32_t vocab, std::uint64_t seed);

}  // namespace deft::engine
