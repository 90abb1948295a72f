#pragma once
// How rare tokens are: their counts over all samples, and -ln p of each in fixed point, whose sums are exact.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/data/token_corpus.h"

namespace deft::engine {

// -ln p is held as round(-ln p * 2^26): at most 43.7 nats (p = 2^-63) fit 32 bits. A token's error is at most 2^-27
// nats (and the libm's logarithm's, below 10^-15 of it), so a sample of L tokens is off by L * 7.5e-9 nats at
// most: 1.6e-5 at L = 2049. Integers add up to the same sum in any order.
inline constexpr int kNatBits = 26;

struct TokenRarity {
    std::vector<std::uint32_t> nats;  // (max(V, 65536)), fixed point; beyond V: 0
    std::int64_t vocab = 0;
    // A power of ten above any sample's sum of nats: 10^(ceil(log10(length * max(-ln p))) + 1). Source: the published
    // code's weight of the length in seqreo_voc.
    std::int64_t length_weight = 10;
};

// count (V): how often each token occurs. A token that never does counts as once. length: of the longest sample.
// Errors: config, where length * length_weight exceeds 64 bits.
TokenRarity token_rarity(std::span<const std::uint64_t> count, std::int64_t length);

// The sum of -ln p over tokens that are known to be in the vocabulary, fixed point; fewer than 2^31 tokens.
std::uint64_t sum_of_nats(TokenSpan tokens, const TokenRarity& rarity);

// Counts tokens of 0 .. vocab - 1.
class TokenCounter {
 public:
    explicit TokenCounter(std::int32_t vocab);
    // Errors: config, for a four-byte token outside the vocabulary; fewer than 2^31 tokens a call.
    void add(TokenSpan tokens);
    // Adds to total (V). Errors: config, for a two-byte token outside the vocabulary.
    void add_to(std::span<std::uint64_t> total);

 private:
    void flush();

    std::int64_t vocab_;
    std::vector<std::uint32_t> recent_;  // (max(V, 65536))
    std::vector<std::uint64_t> count_;   // (max(V, 65536)), empty until recent_ might overflow
    std::int64_t recent_tokens_ = 0;
};

// Errors: config, naming a token outside 0 .. vocab - 1.
void require_vocabulary(TokenSpan tokens, std::int64_t vocab);

}  // namespace deft::engine
