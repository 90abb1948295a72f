#pragma once
// A tokenizer of either kind: one of text that is packed, with a mark where a document ends, or WordPiece, with the
// special tokens of BERT's samples.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "engine/data/tokenizer.h"
#include "engine/data/wordpiece/wordpiece.h"

namespace deft::engine {

using AnyTokenizer = std::variant<Tokenizer, std::shared_ptr<const WordPiece>>;

inline constexpr const char* kWordPieceName = "wordpiece";

inline std::int32_t vocab_of(const AnyTokenizer& tokenizer) {
    const auto* plain = std::get_if<Tokenizer>(&tokenizer);
    return plain != nullptr ? plain->vocab() : std::get<std::shared_ptr<const WordPiece>>(tokenizer)->vocab();
}

// Of what decides the encoding.
inline const std::string& sha256_of(const AnyTokenizer& tokenizer) {
    const auto* plain = std::get_if<Tokenizer>(&tokenizer);
    return plain != nullptr ? plain->sha256() : std::get<std::shared_ptr<const WordPiece>>(tokenizer)->sha256();
}

// For people: a vocabulary of WordPiece has no name of its own.
inline std::string name_of(const AnyTokenizer& tokenizer) {
    const auto* plain = std::get_if<Tokenizer>(&tokenizer);
    return plain != nullptr ? plain->name() : kWordPieceName;
}

}  // namespace deft::engine
