#include "engine/data/bpe/splitter.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"
#include "engine/data/bpe/unicode_classes.h"

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

}  // namespace deft::engine
