#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "reporting/table.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

// Names hold underscores, which mark nothing within a word.
bool within_a_word(const std::string& line, std::size_t at) {
    return at > 0 && at + 1 < line.size() && is_word(line[at - 1]) && is_word(line[at + 1]);
}

// "](", "][" and "]:" make the text before them a link, an image or a name of one; other brackets stay readable.
bool ends_link_text(const std::string& line, std::size_t at) {
    return line[at] == ']' && at + 1 < line.size() &&
           std::string_view("([:").find(line[at + 1]) != std::string_view::npos;
}

// Addresses become links without any mark around them; an empty comment parts what would make one.
bool begins_address(const std::string& line, std::size_t at) {
    const std::string_view rest = std::string_view(line).substr(at);
    return rest.starts_with("://") ||
           (rest.starts_with(".") && at >= 3 && at + 1 < line.size() && is_word(line[at + 1]) &&
            (line.compare(at - 3, 3, "www") == 0 || line.compare(at - 3, 3, "WWW") == 0));
}

// Text alone: no image, link, mention, reference to an issue, HTML or emphasis.
std::string escaped_line(const std::string& line) {
    constexpr std::string_view kApart = "<!-- -->";
    std::string out;
    for (std::size_t at = 0; at < line.size(); ++at) {
        const char c = line[at];
        const bool before_word = at + 1 < line.size() && is_word(line[at + 1]);
        if (c == '<') {
            out += "&lt;";
        } else if (c == '&') {
            out += "&amp;";
        } else if ((c == '@' || c == '#') && before_word) {
            (out += c) += kApart;
        } else if (begins_address(line, at)) {
            (out += kApart) += c;
        } else if (std::string_view("|\\*`~#").find(c) != std::string_view::npos || ends_link_text(line, at) ||
                   (c == '_' && !within_a_word(line, at))) {
            (out += '\\') += c;
        } else {
            out += c;
        }
    }
    return out;
}

std::string escaped(const std::string& text, const char* newline) {
    std::string out;
    for (const std::string_view line : lines_of(text)) {
        if (line.data() != text.data()) out += newline;
        out += escaped_line(printable(line));
    }
    return out;
}

struct MarkdownGrid {
    std::vector<Align> aligns;
    std::vector<std::vector<std::string>> rows;  // the first one: titles
    std::vector<int> widths;
};

std::string markdown_text(const Cell& cell) {
    const std::string text = escaped(plain_marked_text(cell), "<br>");
    return cell.is_best ? "**" + text + "**" : text;
}

MarkdownGrid markdown_grid(const Table& table, const std::vector<std::size_t>& block) {
    MarkdownGrid grid;
    grid.rows.resize(1 + table.rows.size());
    for (const std::size_t column : block) {
        grid.aligns.push_back(table.columns[column].align);
        grid.rows[0].push_back(escaped(marked_title(table.columns[column]), " "));
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            const auto& cells = table.rows[row];
            grid.rows[row + 1].push_back(column < cells.size() ? markdown_text(cells[column]) : "");
        }
        int width = 2;
        for (const auto& row : grid.rows) width = std::max(width, display_width(row.back()));
        grid.widths.push_back(width);
    }
    return grid;
}

std::string line_of(const MarkdownGrid& grid, const std::vector<std::string>& cells) {
    std::string line = "|";
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string padding(static_cast<std::size_t>(grid.widths[i] - display_width(cells[i])), ' ');
        line += " " + (grid.aligns[i] == Align::right ? padding + cells[i] : cells[i] + padding) + " |";
    }
    return line + "\n";
}

std::string rule_of(const MarkdownGrid& grid) {
    std::string line = "|";
    for (std::size_t i = 0; i < grid.widths.size(); ++i) {
        const std::string dashes(static_cast<std::size_t>(grid.widths[i]) + 1, '-');
        line += grid.aligns[i] == Align::right ? dashes + ":|" : ":" + dashes + "|";
    }
    return line + "\n";
}

std::string block_text(const MarkdownGrid& grid) {
    std::string out = line_of(grid, grid.rows[0]) + rule_of(grid);
    for (std::size_t row = 1; row < grid.rows.size(); ++row) out += line_of(grid, grid.rows[row]);
    return out;
}

}  // namespace

std::string render_markdown(const Table& table) {
    std::string out;
    if (!table.caption.empty()) out += fmt::format("**{}**\n", escaped(table.caption, " "));
    if (!table.columns.empty())
        for (const auto& block : page_blocks(table))
            out += (out.empty() ? "" : "\n") + block_text(markdown_grid(table, block));
    if (!table.notes.empty() && !out.empty()) out += "\n";
    for (const std::string& note : table.notes) out += fmt::format("- {}\n", escaped(note, " "));
    return out;
}

}  // namespace deft::reporting
