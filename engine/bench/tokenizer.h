#pragma once
// How fast text becomes tokens, on one thread.

#include <memory>
#include <string_view>

#include "engine/data/tokenizer.h"
#include "engine/data/wordpiece/wordpiece.h"

namespace deft::engine {

// Bytes of text a second through a new Encoder: the text is encoded whole, once.
double tokenizer_rate(const Tokenizer& tokenizer, std::string_view text);
double tokenizer_rate(const std::shared_ptr<const WordPiece>& wordpiece, std::string_view text);

}  // namespace deft::engine
