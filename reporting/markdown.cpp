#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reporting/table.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

std::string escaped(const std::string& text, const char* newline) {
    std::string with_breaks;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        for (char c : printable(std::string_view(text).substr(at, end - at))) {
            if (c == '<')
                with_breaks += "&lt;";
            else if (c == '|' || c == '\\')
                (with_breaks += '\\') += c;
            else
                with_breaks += c;
        }
        if (end < text.size()) with_breaks += newline;
        at = end + 1;
    }
    return with_breaks;
}

}  // namespace

std::string render_markdown(const Table& table) {
    std::string out;
    if (!table.caption.empty()) out += fmt::format("**{}**\n", escaped(table.caption, " "));
    if (!table.columns.empty()) {
        if (!out.empty()) out += "\n";
        std::string rule = "|";
        out += "|";
        for (const Column& column : table.columns) {
            out += fmt::format(" {} |", escaped(column.title, "<br>"));
            rule += column.align == Align::right ? "---:|" : ":---|";
        }
        out += "\n" + rule + "\n";
        for (const auto& row : table.rows) {
            out += "|";
            for (std::size_t column = 0; column < table.columns.size(); ++column)
                out += fmt::format(" {} |", column < row.size() ? escaped(row[column], "<br>") : std::string());
            out += "\n";
        }
    }
    if (!table.notes.empty() && !out.empty()) out += "\n";
    for (const std::string& note : table.notes) out += fmt::format("- {}\n", escaped(note, " "));
    return out;
}

}  // namespace deft::reporting
