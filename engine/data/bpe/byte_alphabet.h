#pragma once
// How vocab.json and merges.txt write bytes: each as one printable character. 21-7E, A1-AC and AE-FF (hex) are the
// code point itself; the other 68 bytes, in increasing order, are U+0100, U+0101, ... (space is U+0120, newline U+010A).

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace deft::engine {

// The bytes by increasing code point of their character: GPT-2's ids 0 to 255.
std::array<unsigned char, 256> bytes_in_alphabet_order();

// Bytes -> their characters, in UTF-8.
std::string spell(std::string_view bytes);

// The reverse; none where a character is not of the alphabet.
std::optional<std::string> unspell(std::string_view spelling);

}  // namespace deft::engine
