#pragma once
// Text from anywhere made fit for a terminal, and its width there.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deft::reporting {

struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 1;
    bool valid = false;
};

// The UTF-8 character that begins at `at`; of what is none, one byte.
Character decode_character(std::string_view text, std::size_t at);

// Control characters (a terminal would obey them) become spaces, bytes that are no UTF-8 the replacement character.
std::string printable(std::string_view text);

// Columns a terminal gives the text: wide East Asian characters and emoji take two, combining marks none.
int display_width(std::string_view text);

// At word ends where possible; width 0: one line.
std::vector<std::string> wrap(const std::string& text, int width, const std::string& indent);

std::string first_line(std::string_view text);

}  // namespace deft::reporting
