#include <algorithm>

#include "reporting/table.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

constexpr int kGap = 2;

std::string aligned(const std::string& text, int width, Align align) {
    const std::string padding(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
    return align == Align::right ? padding + text : text + padding;
}

// Which columns stand in which block; the first column leads every block.
std::vector<std::vector<std::size_t>> blocks(const std::vector<int>& widths, int width) {
    std::vector<std::vector<std::size_t>> out = {{0}};
    int used = widths[0];
    for (std::size_t column = 1; column < widths.size(); ++column) {
        const int more = kGap + widths[column];
        if (width > 0 && out.back().size() > 1 && used + more > width) {
            out.push_back({0});
            used = widths[0];
        }
        out.back().push_back(column);
        used += more;
    }
    return out;
}

}  // namespace

std::string render_terminal(const Table& table, int width) {
    std::string out;
    for (const std::string& line : wrap(printable(table.caption), width, ""))
        if (!line.empty()) out += line + "\n";
    if (!table.columns.empty()) {
        std::vector<std::vector<std::string>> cells(1);
        for (const Column& column : table.columns) cells[0].push_back(printable(column.title));
        for (const auto& row : table.rows) {
            auto& line = cells.emplace_back();
            for (std::size_t column = 0; column < table.columns.size(); ++column)
                line.push_back(column < row.size() ? printable(row[column]) : std::string());
        }
        std::vector<int> widths(table.columns.size(), 1);
        for (const auto& row : cells)
            for (std::size_t column = 0; column < row.size(); ++column)
                widths[column] = std::max(widths[column], display_width(row[column]));
        for (const auto& block : blocks(widths, width)) {
            if (!out.empty()) out += "\n";
            for (std::size_t row = 0; row < cells.size(); ++row) {
                std::string line;
                for (std::size_t column : block) {
                    if (column != block.front()) line.append(kGap, ' ');
                    line += aligned(cells[row][column], widths[column], table.columns[column].align);
                }
                line.erase(line.find_last_not_of(' ') + 1);
                out += line + "\n";
                if (row > 0) continue;
                int total = -kGap;
                for (std::size_t column : block) total += widths[column] + kGap;
                for (int i = 0; i < total; ++i) out += "─";
                out += "\n";
            }
        }
    }
    if (!table.notes.empty() && !out.empty()) out += "\n";
    for (const std::string& note : table.notes)
        for (const std::string& line : wrap(printable(note), width, "  ")) out += line + "\n";
    return out;
}

}  // namespace deft::reporting
