#include "base/color.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace deft {

namespace {

constexpr std::string_view kBold = "\x1b[1m", kRed = "\x1b[1;31m", kGreen = "\x1b[32m", kCyan = "\x1b[1;36m",
                           kPlainRed = "\x1b[31m", kEnd = "\x1b[0m";

struct ColoredWord {
    std::string_view word, color;
};

std::string painted(std::string_view text, std::string_view color) {
    return std::string(color).append(text).append(kEnd);
}

// Calls `paint` for every line; the line feeds stay.
template <class Paint>
std::string by_line(const std::string& text, const Paint& paint) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        out += paint(std::string_view(text).substr(at, end - at));
        if (end < text.size()) out += '\n';
        at = end + 1;
    }
    return out;
}

std::string message_line(std::string_view line) {
    constexpr std::array<ColoredWord, 3> kWords = {{{"error:", kRed}, {"help:", kCyan}, {"note:", kBold}}};
    std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::string(line);
    if (line.substr(begin).starts_with("deft: ")) begin += 6;
    for (const auto& [word, color] : kWords)
        if (line.substr(begin).starts_with(word))
            return std::string(line.substr(0, begin)) + painted(word, color) +
                   std::string(line.substr(begin + word.size()));
    return std::string(line);
}

std::string screen_line(std::string_view line) {
    for (const std::string_view name : {"Answer", "So far", "Paper", "Caution", "Page", "More"})
        if (line.starts_with(name) && line.substr(name.size()).starts_with("  "))
            return painted(name, kBold) + std::string(line.substr(name.size()));
    constexpr std::array<ColoredWord, 2> kVerdicts = {{{" better", kGreen}, {" worse", kPlainRed}}};
    for (const auto& [word, color] : kVerdicts)
        if (line.ends_with(word))
            return std::string(line.substr(0, line.size() - word.size() + 1)) + painted(word.substr(1), color);
    return std::string(line);
}

}  // namespace

bool takes_color(std::FILE* stream) {
    const char *no_color = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
    return (no_color == nullptr || *no_color == '\0') && terminal != nullptr && std::string_view(terminal) != "dumb" &&
           ::isatty(::fileno(stream)) == 1;
}

std::string colored_message(const std::string& text) {
    return by_line(text, message_line);
}

std::string colored_screen(const std::string& text) {
    return by_line(text, screen_line);
}

}  // namespace deft
