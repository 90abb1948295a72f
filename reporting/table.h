#pragma once
// A table is one value with many renderers.

#include <cstddef>
#include <string>
#include <vector>

namespace deft::reporting {

enum class Align { left, right };

struct Column {
    std::string title;  // may hold line breaks
    Align align = Align::right;
    bool begins_block = false;  // where one line does not hold all columns
};

struct Table {
    std::string caption;
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;  // as many cells as columns
    std::vector<std::string> notes;              // printed below
    std::size_t key_columns = 1;                 // the first ones, which tell rows apart: they lead every block
};

// Fits the width by dropping nothing: columns that do not fit continue in further blocks. width 0: as wide as needed.
std::string render_terminal(const Table&, int width);
// A GitHub table, padded so that its source can be read as well.
std::string render_markdown(const Table&);

}  // namespace deft::reporting
