#include "sweeps/driver/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reporting/text.h"

namespace deft::sweeps {

namespace {

bool continues_code_point(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string untabbed(text);
    std::replace(untabbed.begin(), untabbed.end(), '\t', ' ');
    return reporting::printable(untabbed, '?');
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    bool in_escape = false;
    for (const char c : text) {
        if (c == '\x1b')
            in_escape = true;
        else if (in_escape)
            in_escape = !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
        else
            width += continues_code_point(c) ? 0 : 1;
    }
    return width;
}

std::string cut_to_width(std::string_view text, std::size_t width) {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (!continues_code_point(text[i]) && seen++ == width) return std::string(text.substr(0, i));
    return std::string(text);
}

std::string bytes_text(double bytes) {
    static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1023.5 && unit + 1 < std::size(kUnits)) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string duration_text(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "?";
    if (seconds < 9.95) return fmt::format("{:.1f}s", seconds);
    const auto whole = static_cast<long long>(std::llround(std::min(seconds, 1e12)));
    if (whole < 60) return fmt::format("{}s", whole);
    if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
    if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
    return fmt::format("{}d{:02}h", whole / 86400, whole % 86400 / 3600);
}

}  // namespace deft::sweeps
