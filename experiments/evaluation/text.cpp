#include "experiments/evaluation/text.h"

#include "base/utf8.h"

namespace deft::experiments {

namespace {

char32_t next_code_point(std::string_view text, std::size_t& at) {
    const Utf8Character character = decode_utf8(text, at);
    at += character.bytes;
    return character.code;
}

}  // namespace

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
