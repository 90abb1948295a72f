#pragma once
// Made-up tokens that are as unevenly frequent as words are.

#include <cstdint>
#include <vector>

namespace deft::engine {

// Ranks follow Zipf's law; ids are shuffled, so that frequent ones are no neighbours. vocab at most 65536.
std::vector<std::uint16_t> zipf_tokens(std::int64_t count, std::int32_t vocab, std::uint64_t seed);

}  // namespace deft::engine
