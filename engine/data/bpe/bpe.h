#pragma once
// Byte-level byte-pair encoding of one piece: start from its bytes, merge adjacent tokens by rank until none merges.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/bpe/pair_map.h"

namespace deft::engine {

struct Merge {
    std::int32_t left, right;  // the pair
    std::int32_t result;       // the token it becomes
};

struct BpeVocabulary {
    std::vector<std::string> tokens;  // bytes by id; the end of a document has none
    std::vector<Merge> merges;        // by rank, lowest first
    std::int32_t end_of_document = 0;
};

class Bpe {
 public:
    // The vocabulary has a token for each of the 256 bytes, no pair merges twice, and every part of a merge is a byte or
    // the result of an earlier merge: read_bpe and train_bpe see to it.
    explicit Bpe(BpeVocabulary vocabulary);

    const BpeVocabulary& vocabulary() const { return vocabulary_; }

    // Appends the piece's tokens: the pair of lowest rank merges first, the leftmost of equals. Any length, any bytes.
    void encode_piece(std::string_view piece, std::vector<std::int32_t>& out) const;

 private:
    static constexpr std::size_t kShort = 96;

    std::int32_t rank(std::int32_t left, std::int32_t right) const { return ranks_.find(token_pair(left, right)); }
    void encode_short(std::string_view piece, std::vector<std::int32_t>& out) const;
    void encode_long(std::string_view piece, std::vector<std::int32_t>& out) const;

    BpeVocabulary vocabulary_;
    PairMap ranks_;                           // of a pair: its index in merges
    std::array<std::int32_t, 256> byte_ids_{};
};

}  // namespace deft::engine
