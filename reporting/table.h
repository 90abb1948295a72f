#pragma once
// A table is one value with many renderers.

#include <string>
#include <vector>

namespace deft::reporting {

enum class Align { left, right };

struct Column {
    std::string title;
    Align align = Align::right;
};

struct Table {
    std::string caption;
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;  // as many cells as columns
    std::vector<std::string> notes;              // printed below
};

// Fits the width by dropping nothing: columns that do not fit continue in a second block. width 0: as wide as needed.
std::string render_terminal(const Table&, int width);
std::string render_markdown(const Table&);

}  // namespace deft::reporting
