#pragma once
// Removes terminal control sequences from untrusted text.

#include <string>
#include <string_view>

namespace deft {

// C0, DEL, C1, line separators and the marks that reorder text become `for_control`, tabs a blank, and bytes that are
// no UTF-8 the replacement character.
std::string without_controls(std::string_view text, char for_control);
// The same with '?', in each line of a text of several.
std::string without_controls_in_lines(std::string_view text);

}  // namespace deft
