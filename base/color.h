#pragma once
// Colour of messages and screens on a terminal, with the colours of cargo.

#include <cstdio>
#include <string>

namespace deft {

// Whether a stream takes colour: a terminal other than "dumb", and NO_COLOR is unset or empty (no-color.org).
bool takes_color(std::FILE* stream);

// A message with "error:" in red, "help:" in cyan and "note:" in bold, where a line begins with these words.
std::string colored_message(const std::string& text);

// A first screen with its answers' names in bold, and the verdicts "better" in green and "worse" in red.
std::string colored_screen(const std::string& text);

}  // namespace deft
