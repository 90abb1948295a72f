#pragma once
// Sizes, times and foreign text as people read them; counts and money are reporting/numbers.h.

#include <cstddef>
#include <string>
#include <string_view>

namespace deft::sweeps {

// Control characters become '?', tabs spaces: no text from a file or a child may steer the terminal.
std::string printable(std::string_view text);

// Columns on a terminal, each code point counted as one and escape sequences as none.
std::size_t display_width(std::string_view text);
// At most `width` columns, cut at the right.
std::string cut_to_width(std::string_view text, std::size_t width);

std::string bytes_text(double bytes);       // 12.3 MiB
std::string duration_text(double seconds);  // 1h05m; "?" where unknown

}  // namespace deft::sweeps
