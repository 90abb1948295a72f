#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reporting/table.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

// A spreadsheet reads such text as a formula, also after spaces; an apostrophe makes it text.
std::string harmless(const std::string& raw) {
    const std::size_t first = raw.find_first_not_of(" \t\r\n");
    const bool blank_first = !raw.empty() && (raw.front() == '\t' || raw.front() == '\r');
    const bool formula = first != std::string::npos && std::string_view("=+-@").find(raw[first]) != std::string::npos;
    return (blank_first || formula ? "'" : "") + printable(raw);
}

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

std::string field(const Cell& cell) {
    if (cell.value) return fmt::format("{}", *cell.value);
    return cell.text == "-" ? "" : quoted(harmless(cell.text));  // a dash says: nothing there
}

template <class Has>
bool any_cell(const Table& table, std::size_t column, const Has& has) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [&](const std::vector<Cell>& row) { return column < row.size() && has(row[column]); });
}

// Which way is better is for readers of tables; a program wants the same name in every file.
std::string plain_title(const Column& column) {
    std::string title = column.csv_title.empty() ? column.title : column.csv_title;
    for (const std::string_view arrow : {" ↑", " ↓"})
        for (std::size_t at = title.find(arrow); at != std::string::npos; at = title.find(arrow))
            title.erase(at, arrow.size());
    return column.raw_unit.empty() ? title : fmt::format("{} ({})", title, column.raw_unit);
}

// A number's spread has a column of its own right of it.
std::vector<bool> columns_with_spread(const Table& table) {
    std::vector<bool> with_spread;
    for (std::size_t column = 0; column < table.columns.size(); ++column)
        with_spread.push_back(any_cell(table, column, [](const Cell& cell) { return cell.spread.has_value(); }));
    return with_spread;
}

template <class Has>
bool any_cell_of(const Table& table, const Has& has) {
    for (std::size_t column = 0; column < table.columns.size(); ++column)
        if (any_cell(table, column, has)) return true;
    return false;
}

std::string flag_of(const std::vector<Cell>& row) {
    for (const Cell& cell : row)
        if (!cell.flag.empty()) return cell.flag;
    return {};
}

// A column after the others that names the cells of a row with a mark.
struct MarkColumn {
    const char* title;
    bool (*has)(const Cell&);
    std::string (*reason)(const Cell&);  // null: the mark says all
};

const MarkColumn kMarks[] = {
    {"best", [](const Cell& cell) { return cell.is_best; }, nullptr},
    {"stated", [](const Cell& cell) { return cell.stated; }, nullptr},
    {"unverified", [](const Cell& cell) { return !cell.doubt.empty(); }, [](const Cell& cell) { return cell.doubt; }},
};

// Marks that some cell has.
std::vector<MarkColumn> marks_of(const Table& table) {
    std::vector<MarkColumn> marks;
    for (const MarkColumn& mark : kMarks)
        if (any_cell_of(table, mark.has)) marks.push_back(mark);
    return marks;
}

// The titles of the row's cells that have it, each with its reason.
std::string marked_columns(const Table& table, const std::vector<Cell>& row, const MarkColumn& mark) {
    std::vector<std::string> texts;
    for (std::size_t column = 0; column < std::min(row.size(), table.columns.size()); ++column)
        if (mark.has(row[column]))
            texts.push_back(plain_title(table.columns[column]) +
                            (mark.reason == nullptr ? "" : ": " + mark.reason(row[column])));
    return fmt::format("{}", fmt::join(texts, "; "));
}

// The reasons of a row, each with the columns that it holds of; with none where the row's own name carries it.
std::string stale_of(const Table& table, const std::vector<Cell>& row) {
    std::vector<std::pair<std::string, std::vector<std::string>>> titles_of;  // by reason, in the order of the columns
    for (std::size_t column = 0; column < std::min(row.size(), table.columns.size()); ++column) {
        const std::string& why = row[column].stale;
        if (why.empty()) continue;
        auto found =
            std::find_if(titles_of.begin(), titles_of.end(), [&](const auto& one) { return one.first == why; });
        if (found == titles_of.end()) found = titles_of.insert(found, {why, {}});
        found->second.push_back(column == 0 ? "" : plain_title(table.columns[column]));
    }
    std::vector<std::string> texts;
    for (const auto& [why, titles] : titles_of)
        texts.push_back(titles.front().empty() ? why : fmt::format("{}: {}", fmt::join(titles, ", "), why));
    return fmt::format("{}", fmt::join(texts, "; "));
}

std::string line_of(const std::vector<std::string>& fields) {
    return fmt::format("{}\r\n", fmt::join(fields, ","));
}

}  // namespace

std::string render_csv(const Table& table) {
    const std::vector<bool> with_spread = columns_with_spread(table);
    const bool flags = any_cell_of(table, [](const Cell& cell) { return !cell.flag.empty(); });
    const bool stale = any_cell_of(table, [](const Cell& cell) { return !cell.stale.empty(); });
    const std::vector<MarkColumn> marks = marks_of(table);
    std::vector<std::string> fields;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        const std::string title = harmless(plain_title(table.columns[column]));
        fields.push_back(quoted(title));
        if (with_spread[column]) fields.push_back(quoted(title + " standard deviation"));
    }
    if (flags) fields.push_back("flag");
    for (const MarkColumn& mark : marks) fields.emplace_back(mark.title);
    if (stale) fields.push_back("stale");
    std::string out = line_of(fields);
    for (const std::vector<Cell>& row : table.rows) {
        fields.clear();
        for (std::size_t column = 0; column < table.columns.size(); ++column) {
            const Cell cell = column < row.size() ? row[column] : Cell();
            fields.push_back(field(cell));
            if (with_spread[column]) fields.push_back(cell.spread ? fmt::format("{}", *cell.spread) : "");
        }
        if (flags) fields.push_back(quoted(harmless(flag_of(row))));
        for (const MarkColumn& mark : marks) fields.push_back(quoted(harmless(marked_columns(table, row, mark))));
        if (stale) fields.push_back(quoted(harmless(stale_of(table, row))));
        out += line_of(fields);
    }
    return out;
}

}  // namespace deft::reporting
