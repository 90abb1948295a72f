#pragma once
// Text as Python counts it: code points, white space, words.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace deft::experiments {

// The code point at byte `at`, which moves past it. A byte that is no valid UTF-8 counts alone, as U+FFFD.
char32_t next_code_point(std::string_view text, std::size_t& at);

// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_valid_utf8(std::string_view text);

std::int64_t count_code_points(std::string_view text);

// What str.isspace and \s mean by white space.
bool is_whitespace(char32_t c);

// Without white space at both ends.
std::string_view strip(std::string_view text);

// Pieces of a split on runs of white space, unstripped: white space at an end adds an empty piece, "" is one piece.
std::int64_t count_whitespace_pieces(std::string_view text);

// Runs of anything but white space.
std::int64_t count_words(std::string_view text);

}  // namespace deft::experiments
