#include "reporting/html_text.h"

#include <fmt/format.h>

#include "reporting/text.h"

namespace deft::reporting {

std::string html_escaped(std::string_view text) {
    std::string out;
    for (const char c : printable(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string notes_html(const std::vector<std::string>& notes) {
    std::string out = "<ul class=\"notes\">\n";
    for (const std::string& note : notes) out += "<li>" + html_escaped(note) + "</li>\n";
    return out + "</ul>\n";
}

std::string html_id(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
        out += plain ? std::string(1, c) : fmt::format("_{:02x}", static_cast<unsigned char>(c));
    }
    return out;
}

}  // namespace deft::reporting
