#include "base/controls.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"

namespace deft {

namespace {

bool is_control(char32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
           (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string without_controls(std::string_view text, char for_control) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decode_utf8(text, at);
        if (!character.valid)
            out += "\uFFFD";
        else if (is_control(character.code))
            out += character.code == '\t' ? ' ' : for_control;
        else
            out += text.substr(at, character.bytes);
        at += character.bytes;
    }
    return out;
}

std::string without_controls_in_lines(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        out += without_controls(text.substr(at, end - at), '?');
        if (end < text.size()) out += '\n';
        at = end + 1;
    }
    return out;
}

}  // namespace deft
