#include "experiments/lenient_json.h"

#include <algorithm>
#include <cstddef>

namespace deft::experiments {

namespace {

// The end of what begins at `at`: a string, a comment, or one byte.
std::size_t end_of_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
        if (text[at] == '\\') ++at;
    return std::min(at + 1, text.size());
}

std::size_t end_of_comment(std::string_view text, std::size_t at) {
    if (text[at] == '#' || text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
    if (text.substr(at, 2) != "/*") return at;
    const std::size_t close = text.find("*/", at + 2);
    return close == std::string_view::npos ? text.size() : close + 2;
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::string without_comments(std::string_view text) {
    std::string plain(text);
    std::size_t comma = std::string::npos;  // the last byte that is not blank, where it is a comma
    for (std::size_t at = 0; at < plain.size();) {
        if (const std::size_t end = end_of_comment(text, at); end > at) {
            std::replace_if(
                plain.begin() + static_cast<std::ptrdiff_t>(at), plain.begin() + static_cast<std::ptrdiff_t>(end),
                [](char c) { return c != '\n'; }, ' ');
            at = end;
            continue;
        }
        const char c = plain[at];
        if ((c == '}' || c == ']') && comma != std::string::npos) plain[comma] = ' ';
        if (!is_blank(c)) comma = c == ',' ? at : std::string::npos;
        at = c == '"' ? end_of_string(text, at) : at + 1;
    }
    return plain;
}

}  // namespace deft::experiments
