#include <algorithm>
#include <utility>

#include "reporting/table.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

constexpr int kColumnGap = 2;
constexpr int kNarrowestText = 16;  // columns of text that wraps

using Lines = std::vector<std::string>;

// The table as it will be printed.
struct TerminalGrid {
    std::vector<Lines> header;  // a column each, all of one length
    std::vector<std::vector<std::string>> rows;
    std::vector<int> widths;
};

Lines title_lines(const std::string& title) {
    Lines lines;
    for (const std::string_view line : lines_of(title)) lines.push_back(printable(line));
    return lines;
}

// An asterisk replaces bold type.
std::string terminal_text(const Cell& cell) {
    return printable(plain_marked_text(cell)) + (cell.is_best ? " *" : "");
}

TerminalGrid grid_of(const Table& table) {
    TerminalGrid grid;
    std::size_t height = 0;
    for (const Column& column : table.columns) {
        grid.header.push_back(title_lines(marked_title(column)));
        height = std::max(height, grid.header.back().size());
    }
    for (Lines& lines : grid.header) {
        int width = 1;
        for (const std::string& line : lines) width = std::max(width, display_width(line));
        grid.widths.push_back(width);
        lines.insert(lines.begin(), height - lines.size(), "");  // titles end at the rule
    }
    for (const auto& row : table.rows) {
        auto& cells = grid.rows.emplace_back();
        for (std::size_t column = 0; column < table.columns.size(); ++column) {
            cells.push_back(column < row.size() ? terminal_text(row[column]) : std::string());
            grid.widths[column] = std::max(grid.widths[column], display_width(cells.back()));
        }
    }
    return grid;
}

int width_of(const Block& block, const std::vector<int>& widths) {
    int total = -kColumnGap;
    for (const std::size_t column : block) total += widths[column] + kColumnGap;
    return total;
}

// Columns of text become narrower, the widest first, until the block fits. Numbers keep their widths.
std::vector<int> fitted_widths(const Table& table, const TerminalGrid& grid, const Block& block, int width) {
    std::vector<int> widths = grid.widths;
    while (width > 0 && width_of(block, widths) > width) {
        const auto room = [&](std::size_t column) {
            return table.columns[column].align == Align::left ? widths[column] - kNarrowestText : 0;
        };
        const std::size_t widest = *std::max_element(block.begin(), block.end(),
                                                     [&](std::size_t a, std::size_t b) { return room(a) < room(b); });
        if (room(widest) <= 0) break;
        const int excess = width_of(block, widths) - width;
        widths[widest] -= std::min({excess, room(widest), std::max(1, excess / 2)});
    }
    return widths;
}

std::string aligned(const std::string& text, int width, Align align) {
    const std::string padding(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
    return align == Align::right ? padding + text : text + padding;
}

// One row, on as many lines as its longest cell needs.
template <class CellOf>
std::string lines_of_row(const Table& table, const std::vector<int>& widths, const Block& block, const CellOf& cell) {
    std::vector<Lines> cells;
    std::size_t height = 1;
    for (const std::size_t column : block) {
        const bool fits = display_width(cell(column)) <= widths[column];
        cells.push_back(fits ? Lines{cell(column)} : wrap(cell(column), widths[column], ""));
        height = std::max(height, cells.back().size());
    }
    std::string out;
    for (std::size_t i = 0; i < height; ++i) {
        std::string line;
        for (std::size_t at = 0; at < block.size(); ++at) {
            if (at > 0) line.append(kColumnGap, ' ');
            line += aligned(i < cells[at].size() ? cells[at][i] : std::string(), widths[block[at]],
                            table.columns[block[at]].align);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::string block_text(const Table& table, const TerminalGrid& grid, const Block& block, int width) {
    const std::vector<int> widths = fitted_widths(table, grid, block, width);
    std::string out;
    for (std::size_t i = 0; i < grid.header.front().size(); ++i) {
        // A block whose titles are all short needs no line for those of another.
        const auto title = [&](std::size_t column) { return grid.header[column][i]; };
        if (std::any_of(block.begin(), block.end(), [&](std::size_t column) { return !title(column).empty(); }) ||
            i + 1 == grid.header.front().size())
            out += lines_of_row(table, widths, block, title);
    }
    for (int i = 0; i < width_of(block, widths); ++i) out += "─";
    out += "\n";
    for (const auto& row : grid.rows)
        out += lines_of_row(table, widths, block, [&](std::size_t column) { return row[column]; });
    return out;
}

}  // namespace

std::string render_terminal(const Table& table, int width) {
    std::string out;
    for (const std::string& line : wrap(printable(table.caption), width, ""))
        if (!line.empty()) out += line + "\n";
    if (!table.columns.empty()) {
        const TerminalGrid grid = grid_of(table);
        for (const Block& block : fitting_blocks(table, grid.widths, kColumnGap, width)) {
            if (!out.empty()) out += "\n";
            out += block_text(table, grid, block, width);
        }
    }
    if (!table.notes.empty() && !out.empty()) out += "\n";
    for (const std::string& note : table.notes)
        for (const std::string& line : wrap(printable(note), width, "  ")) out += line + "\n";
    return out;
}

}  // namespace deft::reporting
