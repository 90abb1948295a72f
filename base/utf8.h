#pragma once
// UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF (Unicode 14, table 3-7).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace deft {

struct Utf8Character {
    char32_t code = 0xFFFD;  // the replacement character where the bytes are no UTF-8
    std::uint8_t bytes = 1;
    bool valid = false;
};

// The character that begins at byte `at` < text.size(), or one invalid byte. Inline: tokenizers call it for every
// character of a corpus.
inline Utf8Character decode_utf8(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) -> char32_t {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
    };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
    const char32_t lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};
    if (lead >= 0xC2 && lead <= 0xDF && continues(1)) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2, true};
    if (lead >= 0xE0 && lead <= 0xEF && continues(1) && continues(2)) {
        const char32_t code = (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
        if (code >= 0x800 && (code < 0xD800 || code > 0xDFFF)) return {code, 3, true};
    }
    if (lead >= 0xF0 && lead <= 0xF4 && continues(1) && continues(2) && continues(3)) {
        const char32_t code = (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
        if (code >= 0x10000 && code <= 0x10FFFF) return {code, 4, true};
    }
    return {};
}

bool is_valid_utf8(std::string_view text);

// code: at most U+10FFFF and no surrogate.
inline void append_utf8(char32_t code, std::string& out) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | code >> 6);
        tail(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0 | code >> 12);
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0 | code >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
}

// A byte that is not UTF-8 counts as a code point of its own.
std::int64_t count_code_points(std::string_view text);

}  // namespace deft
