#include "experiments/evaluation/text.h"

namespace deft::experiments {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

// The code point of a well-formed sequence at the start of `text` and its length in bytes; length 0: not well-formed.
struct Decoded {
    char32_t code_point = kReplacement;
    std::size_t length = 0;
};

Decoded decode(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {first, 1};
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
    char32_t c = first & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return {};
        c = (c << 6) | (byte(i) & 0x3Fu);
    }
    const bool overlong = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    if (overlong || surrogate || c > 0x10FFFF) return {};
    return {c, length};
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
    const Decoded decoded = decode(text.substr(at));
    at += decoded.length == 0 ? 1 : decoded.length;
    return decoded.code_point;
}

bool is_valid_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = decode(text).length;
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::int64_t count_code_points(std::string_view text) {
    std::int64_t count = 0;
    for (std::size_t at = 0; at < text.size(); ++count) next_code_point(text, at);
    return count;
}

bool is_whitespace(char32_t c) {
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string_view strip(std::string_view text) {
    std::size_t begin = text.size(), end = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t start = at;
        if (is_whitespace(next_code_point(text, at))) continue;
        if (begin == text.size()) begin = start;
        end = at;
    }
    return end == 0 ? std::string_view{} : text.substr(begin, end - begin);
}

std::int64_t count_whitespace_pieces(std::string_view text) {
    std::int64_t pieces = 1;
    bool in_space = false;
    for (std::size_t at = 0; at < text.size();) {
        const bool space = is_whitespace(next_code_point(text, at));
        if (space && !in_space) ++pieces;
        in_space = space;
    }
    return pieces;
}

std::int64_t count_words(std::string_view text) {
    std::int64_t words = 0;
    bool in_word = false;
    for (std::size_t at = 0; at < text.size();) {
        const bool word = !is_whitespace(next_code_point(text, at));
        if (word && !in_word) ++words;
        in_word = word;
    }
    return words;
}

}  // namespace deft::experiments
