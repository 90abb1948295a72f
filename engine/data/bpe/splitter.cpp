#include "engine/data/bpe/splitter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"

namespace deft::engine {

namespace {

struct Character {
    CharacterClass character_class = CharacterClass::other;
    std::uint8_t bytes = 1;
};

constexpr std::array<CharacterClass, 128> kAscii = [] {
    std::array<CharacterClass, 128> classes{};
    for (int c = 0; c < 128; ++c) {
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) classes[c] = CharacterClass::letter;
        if (c >= '0' && c <= '9') classes[c] = CharacterClass::number;
        if ((c >= '\t' && c <= '\r') || c == ' ') classes[c] = CharacterClass::space;
    }
    return classes;
}();

Character character_at(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 128) return {kAscii[byte], 1};
    const Utf8Character character = decode_utf8(text, at);
    return {character.valid ? character_class(character.code) : CharacterClass::other, character.bytes};
}

// 0 where text[at], an apostrophe, starts no contraction.
std::size_t contraction_length(std::string_view text, std::size_t at) {
    const std::string_view rest = text.substr(at + 1, 2);
    if (rest.starts_with('s') || rest.starts_with('t') || rest.starts_with('m') || rest.starts_with('d')) return 2;
    return rest == "re" || rest == "ve" || rest == "ll" ? 3 : 0;
}

std::size_t run_end(std::string_view text, std::size_t at, CharacterClass wanted) {
    while (at < text.size()) {
        const Character next = character_at(text, at);
        if (next.character_class != wanted) break;
        at += next.bytes;
    }
    return at;
}

// A space before a word belongs to the word, so whitespace that text follows gives back its last character.
std::size_t whitespace_end(std::string_view text, std::size_t begin) {
    std::size_t last = begin, end = begin;
    while (end < text.size()) {
        const Character next = character_at(text, end);
        if (next.character_class != CharacterClass::space) break;
        last = end;
        end += next.bytes;
    }
    return end == text.size() || last == begin ? end : last;
}

}  // namespace

std::size_t piece_end(std::string_view text, std::size_t begin) {
    if (text[begin] == '\'') {
        const std::size_t length = contraction_length(text, begin);
        if (length > 0) return begin + length;
    }
    const std::size_t start = begin + (text[begin] == ' ' ? 1 : 0);
    if (start == text.size()) return start;
    const Character first = character_at(text, start);
    if (first.character_class == CharacterClass::space) return whitespace_end(text, begin);
    return run_end(text, start + first.bytes, first.character_class);
}

namespace {

struct Range {
    std::uint32_t first, last;
    CharacterClass character_class;
};

constexpr Range kRanges[] = {
#include "engine/data/bpe/unicode_ranges.inc"
};

}  // namespace

CharacterClass character_class(std::uint32_t code_point) {
    const Range* after = std::upper_bound(std::begin(kRanges), std::end(kRanges), code_point,
                                          [](std::uint32_t c, const Range& range) { return c < range.first; });
    if (after == std::begin(kRanges)) return CharacterClass::other;
    const Range& range = *std::prev(after);
    return code_point <= range.last ? range.character_class : CharacterClass::other;
}

namespace {

constexpr bool is_itself(int byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr int kSymbols = 0x100 + 68;

struct Alphabet {
    std::array<std::uint16_t, 256> symbol{};    // code point of a byte
    std::array<std::int16_t, kSymbols> byte{};  // byte of a code point, -1 for none
};

constexpr Alphabet kAlphabet = [] {
    Alphabet alphabet;
    alphabet.byte.fill(-1);
    int next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
        const int symbol = is_itself(byte) ? byte : next++;
        alphabet.symbol[byte] = static_cast<std::uint16_t>(symbol);
        alphabet.byte[symbol] = static_cast<std::int16_t>(byte);
    }
    return alphabet;
}();

}  // namespace

std::array<unsigned char, 256> bytes_in_alphabet_order() {
    std::array<unsigned char, 256> bytes{};
    std::size_t count = 0;
    for (const int byte : kAlphabet.byte)
        if (byte >= 0) bytes[count++] = static_cast<unsigned char>(byte);
    return bytes;
}

std::string spell(std::string_view bytes) {
    std::string spelling;
    for (const char c : bytes) {
        const int symbol = kAlphabet.symbol[static_cast<unsigned char>(c)];
        if (symbol < 0x80) {
            spelling += static_cast<char>(symbol);
        } else {
            spelling += static_cast<char>(0xC0 | symbol >> 6);
            spelling += static_cast<char>(0x80 | (symbol & 0x3F));
        }
    }
    return spelling;
}

std::optional<std::string> unspell(std::string_view spelling) {
    std::string bytes;
    for (std::size_t at = 0; at < spelling.size();) {
        const Utf8Character character = decode_utf8(spelling, at);
        if (!character.valid || character.code >= kSymbols || kAlphabet.byte[character.code] < 0) return {};
        bytes += static_cast<char>(kAlphabet.byte[character.code]);
        at += character.bytes;
    }
    return bytes;
}

}  // namespace deft::engine
