#include "reporting/table.h"

#include <algorithm>

namespace deft::reporting {

std::string marked_text(const Cell& cell) {
    return cell.flag.empty() ? cell.text : cell.text + " †";
}

std::vector<std::vector<std::size_t>> page_blocks(const Table& table) {
    std::vector<std::size_t> keys;
    for (std::size_t column = 0; column < std::min(table.key_columns, table.columns.size()); ++column)
        keys.push_back(column);
    std::vector<std::vector<std::size_t>> out = {keys};
    for (std::size_t column = keys.size(); column < table.columns.size(); ++column) {
        if (table.columns[column].begins_block && out.back().size() > keys.size()) out.push_back(keys);
        out.back().push_back(column);
    }
    return out;
}

}  // namespace deft::reporting
