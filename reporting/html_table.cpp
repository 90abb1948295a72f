#include <fmt/format.h>

#include <string_view>

#include "reporting/html_text.h"
#include "reporting/table.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

// The first line of a title names the column, the others say more of it.
std::string title_html(const std::string& title) {
    const std::vector<std::string_view> lines = lines_of(title);
    std::string out = html_escaped(lines.front());
    for (std::size_t i = 1; i < lines.size(); ++i) out += "<br><small>" + html_escaped(lines[i]) + "</small>";
    return out;
}

std::string classes(const Column& column, const Cell* cell) {
    std::string names = column.align == Align::left ? "l" : "";
    if (column.published) names += names.empty() ? "pub" : " pub";
    if (cell != nullptr && !cell->flag.empty()) names += names.empty() ? "flag" : " flag";
    return names.empty() ? "" : fmt::format(" class=\"{}\"", names);
}

// The aside below the rest: side by side in ten columns they would be wider than a screen.
std::string text_html(const Cell& cell) {
    const std::string text = marked_text(cell), behind = " " + cell.aside;
    const std::size_t at = cell.aside.empty() ? std::string::npos : text.rfind(behind);
    if (at == std::string::npos) return html_escaped(text);
    return html_escaped(text.substr(0, at)) + "<br><small>" + html_escaped(text.substr(at + 1)) + "</small>";
}

std::string cell_html(const Column& column, const Cell& cell, bool names_row) {
    std::string text = text_html(cell);
    if (!cell.trace.empty() && cell.text != "-")
        text = fmt::format("<a href=\"#trace-{}\">{}</a>", html_id(cell.trace), text);
    const std::string hint = cell.flag.empty() ? "" : fmt::format(" title=\"{}\"", html_escaped(cell.flag));
    if (names_row) return fmt::format("<th scope=\"row\"{}{}>{}</th>", classes(column, &cell), hint, text);
    return fmt::format("<td{}{}>{}</td>", classes(column, &cell), hint, text);
}

}  // namespace

std::string render_html(const Table& table) {
    std::string out = fmt::format(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n<table>\n"
        "<caption><span>{0}</span></caption>\n<thead><tr>",
        html_escaped(table.caption));
    for (const Column& column : table.columns)
        out += fmt::format("<th scope=\"col\"{}>{}</th>", classes(column, nullptr), title_html(column.title));
    out += "</tr></thead>\n<tbody>\n";
    for (const std::vector<Cell>& row : table.rows) {
        out += "<tr>";
        for (std::size_t column = 0; column < table.columns.size(); ++column)
            out += cell_html(table.columns[column], column < row.size() ? row[column] : Cell(),
                             column < table.key_columns);
        out += "</tr>\n";
    }
    out += "</tbody>\n</table>\n</div>\n";
    return table.notes.empty() ? out : out + notes_html(table.notes);
}

}  // namespace deft::reporting
