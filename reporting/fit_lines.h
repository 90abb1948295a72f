#pragma once
// Printed text fitted to a terminal.

#include <string>

namespace deft::reporting {

// Breaks the lines that are wider than the terminal, at spaces only. A value continues below itself, an item of a list
// below its text, and other lines two columns further in. A shell command continues after a backslash, and its quoted
// words stay whole. Width 0: no terminal, and no line is broken.
std::string fit_lines(const std::string& text, int width);

}  // namespace deft::reporting
