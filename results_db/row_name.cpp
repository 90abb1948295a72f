#include "results_db/row_name.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace deft::results_db {

namespace {

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

// The share before a last '%', which is cut off with the blank or the "at" before it; nothing where the text ends in
// none.
std::optional<double> take_budget(std::string_view& text) {
    if (!text.ends_with('%')) return std::nullopt;
    const std::string_view rest = trimmed(text.substr(0, text.size() - 1));
    const std::size_t blank = rest.rfind(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const std::string_view digits = rest.substr(blank + 1);
    double percent = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
    text = trimmed(rest.substr(0, blank));
    if (text.ends_with(" at")) text = trimmed(text.substr(0, text.size() - 3));
    return percent / 100;
}

}  // namespace

RowName parse_row_name(const std::string& asked) {
    std::string_view text = trimmed(asked);
    RowName row;
    row.budget = take_budget(text);
    for (const std::string_view mark : {" (under capacity)", " (imported)"})
        if (text.ends_with(mark)) text = trimmed(text.substr(0, text.size() - mark.size()));
    row.name = text;
    return row;
}

bool same_budget(double a, double b) {
    return std::abs(a - b) < 0.0005;
}

}  // namespace deft::results_db
