#include "reporting/text.h"

#include <algorithm>

#include "base/controls.h"
#include "base/utf8.h"

namespace deft::reporting {

namespace {

int width_of(char32_t code) {
    const auto in = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
    if (in(0x300, 0x36F) || in(0x200B, 0x200F) || in(0xFE00, 0xFE0F) || in(0x20D0, 0x20FF)) return 0;
    if (in(0x1100, 0x115F) || in(0x2E80, 0xA4CF) || in(0xAC00, 0xD7A3) || in(0xF900, 0xFAFF) || in(0xFE30, 0xFE6F) ||
        in(0xFF00, 0xFF60) || in(0xFFE0, 0xFFE6) || in(0x1F300, 0x1F64F) || in(0x1F900, 0x1F9FF) ||
        in(0x20000, 0x3FFFD))
        return 2;
    return 1;
}

}  // namespace

std::string printable(std::string_view text) {
    return without_controls(text, ' ');
}

std::string visible(std::string_view text) {
    return without_controls(text, '?');
}

int display_width(std::string_view text) {
    int width = 0;
    const auto is_letter = [](char32_t code) { return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z'); };
    bool in_escape = false;  // up to the letter that ends it
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decode_utf8(text, at);
        if (character.code == 0x1B)
            in_escape = true;
        else if (in_escape)
            in_escape = !is_letter(character.code);
        else
            width += character.valid ? width_of(character.code) : 1;
        at += character.bytes;
    }
    return width;
}

std::string cut_to_width(std::string_view text, int width) {
    int used = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decode_utf8(text, at);
        used += character.valid ? width_of(character.code) : 1;
        if (used > width) return std::string(text.substr(0, at));
        at += character.bytes;
    }
    return std::string(text);
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

std::string one_line(std::string_view text) {
    std::string line;
    for (const std::string_view part : lines_of(text)) (line += line.empty() ? "" : " ") += part;
    return line;
}

std::vector<std::string> wrap(const std::string& text, int width, const std::string& indent) {
    if (width <= 0) return {text};
    std::vector<std::string> lines;
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        const bool fresh = line.empty() || line == indent;
        if (!fresh && display_width(line) + 1 + display_width(word) > width) {
            lines.push_back(line);
            line = indent + word;
        } else {
            line += fresh ? word : " " + word;
        }
        at = end + 1;
    }
    lines.push_back(line);
    return lines;
}

}  // namespace deft::reporting
