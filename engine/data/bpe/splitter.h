#pragma once
// GPT-2's rules that split text into pieces; merges never cross the end of a piece.
// As a regular expression: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deft::engine {

// The end of the piece that starts at `begin` < text.size(); always beyond `begin`. A byte that is not part of valid
// UTF-8 counts as a character of its own that is neither letter, number nor space.
std::size_t piece_end(std::string_view text, std::size_t begin);

// Calls visit(piece) for every piece, in order; together the pieces are the text.
template <class Visit>
void for_each_piece(std::string_view text, Visit visit) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = piece_end(text, begin);
        visit(text.substr(begin, end - begin));
        begin = end;
    }
}

// The four classes of characters in GPT-2's split rules, by Unicode 14.

enum class CharacterClass : std::uint8_t {
    other,   // also combining marks, unassigned code points
    letter,  // general categories L*
    number,  // general categories N*
    space,   // White_Space: U+0085 and U+00A0 are, U+001C to U+001F, U+200B and U+FEFF are not
};

CharacterClass character_class(std::uint32_t code_point);

// How vocab.json and merges.txt write bytes: each as one printable character. 21-7E, A1-AC and AE-FF (hex) are the
// code point itself; the other 68 bytes, in increasing order, are U+0100, U+0101, ... (space is U+0120, newline
// U+010A).

// The bytes by increasing code point of their character: GPT-2's ids 0 to 255.
std::array<unsigned char, 256> bytes_in_alphabet_order();

// Bytes -> their characters, in UTF-8.
std::string spell(std::string_view bytes);

// The reverse; none where a character is not of the alphabet.
std::optional<std::string> unspell(std::string_view spelling);

}  // namespace deft::engine
