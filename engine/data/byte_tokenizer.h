#pragma once
// The byte tokenizer: a token is a byte, and one more marks the end of a document.

#include <cstdint>
#include <string_view>
#include <vector>

namespace deft::engine {

inline constexpr std::int32_t kByteVocab = 257;
inline constexpr std::int32_t kEndOfDocument = 256;

inline std::vector<std::int32_t> encode_bytes(std::string_view text) {
    std::vector<std::int32_t> tokens;
    tokens.reserve(text.size());
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    return tokens;
}

}  // namespace deft::engine
