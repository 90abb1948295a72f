#pragma once
// A tokenizer of any kind: one of text that is packed, with a mark where a document ends; WordPiece, with the special
// tokens of BERT's samples; or none, of images.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "engine/data/tokenizer.h"
#include "engine/data/wordpiece/wordpiece.h"

namespace deft::engine {

struct NoTokenizer {};

using AnyTokenizer = std::variant<Tokenizer, std::shared_ptr<const WordPiece>, NoTokenizer>;

inline constexpr const char* kWordPieceName = "wordpiece";

inline bool has_tokens(const AnyTokenizer& tokenizer) {
    return !std::holds_alternative<NoTokenizer>(tokenizer);
}

// 0 where there are no tokens.
inline std::int32_t vocab_of(const AnyTokenizer& tokenizer) {
    if (!has_tokens(tokenizer)) return 0;
    const auto* plain = std::get_if<Tokenizer>(&tokenizer);
    return plain != nullptr ? plain->vocab() : std::get<std::shared_ptr<const WordPiece>>(tokenizer)->vocab();
}

// The hash of everything that decides the encoding; empty where there are no tokens.
inline std::string sha256_of(const AnyTokenizer& tokenizer) {
    if (!has_tokens(tokenizer)) return {};
    const auto* plain = std::get_if<Tokenizer>(&tokenizer);
    return plain != nullptr ? plain->sha256() : std::get<std::shared_ptr<const WordPiece>>(tokenizer)->sha256();
}

// For people: a vocabulary of WordPiece has no name of its own.
inline std::string name_of(const AnyTokenizer& tokenizer) {
    if (!has_tokens(tokenizer)) return "none";
    const auto* plain = std::get_if<Tokenizer>(&tokenizer);
    return plain != nullptr ? plain->name() : kWordPieceName;
}

}  // namespace deft::engine
