#pragma once
// White space and words as Python counts them.

#include <cstdint>
#include <string_view>

namespace deft::experiments {

// What str.isspace and \s mean by white space.
bool is_whitespace(char32_t c);

// Without white space at both ends.
std::string_view strip(std::string_view text);

// Pieces of a split on runs of white space, unstripped: white space at an end adds an empty piece, "" is one piece.
std::int64_t count_whitespace_pieces(std::string_view text);

// Runs of anything but white space.
std::int64_t count_words(std::string_view text);

}  // namespace deft::experiments
