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

}  // namespace

std::string provenance_html(const std::vector<Row>& rows, const std::vector<results_db::Checkpoint>& checkpoints,
                            const std::string& points) {
    std::vector<Table> tables;
    for (const Row& row : rows) tables.push_back(provenance_table(row, checkpoints));
    std::string out;
    if (const std::vector<std::string> equal = take_equal_columns(tables); !equal.empty())
        out +=
            fmt::format("<p>Equal in all trials: {}.</p>\n", html_escaped(fmt::format("{}", fmt::join(equal, "; "))));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        const std::string why = not_measured(row);
        out += fmt::format("<details><summary>{}{}</summary>\n<div class=\"trace\" id=\"{}\">\n",
                           html_escaped(row.name), why.empty() ? "" : " †", trace_id(row.name));
        if (!why.empty()) out += "<p>† Not measured: " + html_escaped(why) + ".</p>\n";
        if (is_imported(row))
            for (const std::string& note : imported_notes({row})) out += "<p>" + html_escaped(note) + "</p>\n";
        out += render_html(tables[i]);
        const std::vector<std::string> commands = repeat_commands(row, points);
        if (!commands.empty()) {
            out += "<p>To repeat these trials:</p>\n<pre tabindex=\"0\"><code>";
            for (const std::string& line : commands) out += html_escaped(line) + "\n";
            out += "</code></pre>\n";
        }
        out += "</div></details>\n";
    }
    return out;
}

}  // namespace deft::reporting
