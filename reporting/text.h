#pragma once
// Text from anywhere made fit for a terminal, and its width there.

#include <string>
#include <string_view>
#include <vector>

namespace deft::reporting {

// Control characters (a terminal would obey them) become spaces, bytes that are no UTF-8 the replacement character.
std::string printable(std::string_view text);
// The same for what a file or a child process says: control characters other than tabs become '?', so that a reader
// sees that there was something.
std::string visible(std::string_view text);

// Columns a terminal gives the text: wide East Asian characters and emoji take two, combining marks and the escape
// sequences of styles none.
int display_width(std::string_view text);

// Cut on the right to that number of columns. Text without escape sequences.
std::string cut_to_width(std::string_view text, int width);

// The lines of a text, without their line feeds: at least one.
std::vector<std::string_view> lines_of(std::string_view text);

// The lines of a text in one, with blanks between them.
std::string one_line(std::string_view text);

// At word ends where possible; width 0: one line.
std::vector<std::string> wrap(const std::string& text, int width, const std::string& indent);

}  // namespace deft::reporting
