#pragma once
// Text made fit for HTML and SVG.

#include <string>
#include <string_view>
#include <vector>

namespace deft::reporting {

// For element content and for attribute values in double quotes.
std::string html_escaped(std::string_view text);

std::string notes_html(const std::vector<std::string>& notes);

// Letters, digits and dashes stay, the rest is spelled in hex: fit for an id, and different for different texts.
std::string html_id(std::string_view text);

}  // namespace deft::reporting
