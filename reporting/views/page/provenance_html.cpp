#include "reporting/views/page/provenance_html.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>

#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

bool is_equal_in_all(const std::vector<Table>& tables, std::size_t column) {
    const std::string* known = nullptr;
    for (const Table& table : tables)
        for (const std::vector<Cell>& row : table.rows) {
            if (known != nullptr && row[column].text != *known) return false;
            known = &row[column].text;
        }
    return known != nullptr;
}

// Takes the columns out that are equal in all trials, and names them and their values. A thousand trials would repeat
// a commit, a host and a dataset as often.
std::vector<std::string> take_equal_columns(std::vector<Table>& tables) {
    std::size_t trials = 0;
    for (const Table& table : tables) trials += table.rows.size();
    std::vector<std::string> equal;
    if (trials < 2) return equal;
    for (std::size_t column = tables.front().columns.size(); column-- > tables.front().key_columns;) {
        if (!is_equal_in_all(tables, column)) continue;
        const auto at = static_cast<std::ptrdiff_t>(column);
        const std::string title = tables.front().columns[column].title;
        std::string value;
        for (Table& table : tables) {
            for (std::vector<Cell>& row : table.rows) {
                value = row[column].text;
                row.erase(row.begin() + at);
            }
            table.columns.erase(table.columns.begin() + at);
        }
        equal.insert(equal.begin(), fmt::format("{} {}", title, value));
    }
    return equal;
}

// A line below the trials of a row, as wide as the table.
std::string line_html(std::size_t columns, const std::string& html) {
    return fmt::format("<tr><td colspan=\"{}\">{}</td></tr>\n", columns, html);
}

std::string code_html(const std::vector<std::string>& lines) {
    std::string code;
    for (const std::string& line : lines) code += (code.empty() ? "" : "\n") + html_escaped(line);
    return "<code>" + code + "</code>";
}

// The first command of all rows where it is the same: the checkout of their commit. Empty otherwise.
std::string shared_checkout(const std::vector<std::vector<std::string>>& commands) {
    for (const std::vector<std::string>& lines : commands)
        if (lines.size() < 2 || lines.front() != commands.front().front()) return {};
    return commands.empty() ? "" : commands.front().front();
}

// The trials of a row, notes on them, and the commands that repeat them.
std::string row_html(const Row& row, const Table& trials, const std::vector<std::string>& commands) {
    const std::size_t columns = trials.columns.size();
    const std::string why = not_measured(row);
    std::string out = fmt::format("<tbody id=\"{}\">\n<tr><th scope=\"rowgroup\" colspan=\"{}\">{}{}</th></tr>\n",
                                  trace_id(row.name), columns, html_escaped(row.name), why.empty() ? "" : " †");
    if (!why.empty()) out += line_html(columns, "† Not measured: " + html_escaped(why) + ".");
    if (is_imported(row))
        for (const std::string& note : imported_notes({row})) out += line_html(columns, html_escaped(note));
    out += rows_html(trials);
    if (!commands.empty()) out += line_html(columns, code_html(commands));
    return out + "</tbody>\n";
}

}  // namespace

std::string provenance_html(const std::vector<Row>& rows, const std::vector<results_db::Checkpoint>& checkpoints,
                            const std::string& points) {
    if (rows.empty()) return {};
    std::vector<Table> tables;
    std::vector<std::vector<std::string>> commands;
    for (const Row& row : rows) {
        tables.push_back(provenance_table(row, checkpoints));
        commands.push_back(repeat_commands(row, points));
    }
    std::string out;
    if (const std::vector<std::string> equal = take_equal_columns(tables); !equal.empty())
        out +=
            fmt::format("<p>Equal in all trials: {}.</p>\n", html_escaped(fmt::format("{}", fmt::join(equal, "; "))));
    const std::string checkout = shared_checkout(commands);
    if (!checkout.empty()) {
        for (std::vector<std::string>& lines : commands) lines.erase(lines.begin());
        out += "<p>The command below the trials of a row repeats them, from this commit:</p>\n<pre tabindex=\"0\">" +
               code_html({checkout}) + "</pre>\n";
    } else if (!points.empty()) {
        out += "<p>The commands below the trials of a row repeat them.</p>\n";
    }
    Table head = tables.front();
    head.caption = "Trials of each row";
    out += "<details><summary>" + head.caption + "</summary>\n<div class=\"trace\">\n" + table_begin_html(head);
    for (std::size_t i = 0; i < rows.size(); ++i) out += row_html(rows[i], tables[i], commands[i]);
    return out + table_end_html() + "</div></details>\n";
}

}  // namespace deft::reporting
