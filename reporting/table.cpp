#include "reporting/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace deft::reporting {

Cell exact_cell(double value) {
    return {fmt::format("{}", value), value};
}

std::string marked_text(const Cell& cell) {
    return cell.text + (cell.flag.empty() ? "" : " †") + (cell.stale.empty() ? "" : " ¶") + (cell.stated ? " ‡" : "") +
           (cell.doubt.empty() ? "" : " §");
}

std::string plain_marked_text(const Cell& cell) {
    if (cell.flag.empty() || !cell.value) return marked_text(cell);
    Cell greyed = cell;
    greyed.text = "(" + cell.text + ")";
    return marked_text(greyed);
}

std::string marked_title(const Column& column) {
    return column.title + (column.caveat.empty() ? "" : "\n" + column.caveat);
}

namespace {

// The width of a block's columns, all gaps included.
struct Layout {
    const Table& table;
    const std::vector<int>& widths;
    int gap;

    int width_of(const Block& block) const {
        int total = -gap;
        for (const std::size_t column : block) total += widths[column] + gap;
        return total;
    }
    // Including the published columns beside it.
    int width_with_published(std::size_t column) const {
        int total = widths[column];
        for (std::size_t next = column + 1; next < table.columns.size() && table.columns[next].published; ++next)
            total += gap + widths[next];
        return total;
    }
};

Block keys_of(const Table& table) {
    Block keys;
    for (std::size_t column = 0; column < std::min(table.key_columns, table.columns.size()); ++column)
        keys.push_back(column);
    return keys;
}

// Columns as far as they fit, the keys before each block.
std::vector<Block> filled(const Layout& layout, const Block& keys, int width) {
    std::vector<Block> out = {keys};
    for (std::size_t column = keys.size(); column < layout.table.columns.size(); ++column) {
        const bool fresh = out.back().size() == keys.size();
        const bool beside = layout.table.columns[column].published && !fresh;
        const bool fits =
            beside || layout.width_of(out.back()) + layout.gap + layout.width_with_published(column) <= width;
        if (!fresh && (!fits || layout.table.columns[column].begins_block)) out.push_back(keys);
        out.back().push_back(column);
    }
    return out;
}

}  // namespace

std::vector<Block> page_blocks(const Table& table) {
    const Block keys = keys_of(table);
    std::vector<Block> out = {keys};
    for (std::size_t column = keys.size(); column < table.columns.size(); ++column) {
        if (table.columns[column].begins_block && out.back().size() > keys.size()) out.push_back(keys);
        out.back().push_back(column);
    }
    return out;
}

std::vector<Block> fitting_blocks(const Table& table, const std::vector<int>& widths, int gap, int width) {
    const Layout layout{table, widths, gap};
    Block all;
    for (std::size_t column = 0; column < table.columns.size(); ++column) all.push_back(column);
    if (width <= 0 || layout.width_of(all) <= width) return {all};
    const Block keys = keys_of(table);
    std::vector<Block> out = filled(layout, keys, width);
    // As narrow as as many blocks can be, so that no column is left over alone.
    for (std::vector<Block> next = out; width > 0 && next.size() == out.size();) {
        out = std::move(next);
        next = filled(layout, keys, --width);
    }
    return out;
}

}  // namespace deft::reporting
