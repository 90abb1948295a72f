#include "reporting/views/render/named_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reporting/text.h"

namespace deft::reporting {

void NamedLines::section(const std::string& title) {
    close();
    text_ += fmt::format("{}{}\n", text_.empty() ? "" : "\n", printable(title));
}

void NamedLines::add(const std::string& name, const std::string& value) {
    entries_.emplace_back(printable(name), value.empty() ? "-" : printable(value));
    width_ = std::max(width_, display_width(entries_.back().first));
}

void NamedLines::add_lines(const std::string& value) {
    close();
    for (std::size_t at = 0; at < value.size();) {
        const std::size_t end = std::min(value.find('\n', at), value.size());
        text_ += "  " + printable(std::string_view(value).substr(at, end - at)) + "\n";
        at = end + 1;
    }
}

std::string NamedLines::take() {
    close();
    return std::move(text_);
}

void NamedLines::close() {
    for (const auto& [name, value] : entries_)
        text_ += fmt::format("  {}{}  {}\n", name,
                             std::string(static_cast<std::size_t>(width_ - display_width(name)), ' '), value);
    entries_.clear();
    width_ = kLeastWidth;
}

}  // namespace deft::reporting
