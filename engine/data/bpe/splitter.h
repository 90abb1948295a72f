#pragma once
// GPT-2's rules that split text into pieces; merges never cross the end of a piece.
// As a regular expression: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+

#include <cstddef>
#include <string_view>

namespace deft::engine {

// The end of the piece that starts at `begin` < text.size(); always beyond `begin`. A byte that is no part of valid
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

}  // namespace deft::engine
