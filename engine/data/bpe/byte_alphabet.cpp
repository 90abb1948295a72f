#include "engine/data/bpe/byte_alphabet.h"

#include <cstdint>

#include "base/utf8.h"

namespace deft::engine {

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
