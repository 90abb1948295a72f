#pragma once
// A heat map as a value, and its renderer: rows of cells whose colour represents a number.

#include <string>
#include <vector>

#include "reporting/numbers.h"

namespace deft::reporting {

struct HeatRow {
    std::string name;           // "layer 3"
    std::vector<double> cells;  // from the left; NaN: nothing is known, and the cell stays empty
    std::string aside;          // words right of the row
};

struct HeatMap {
    std::string id;  // of its title and description in the page
    std::string title, x_title, y_title, value_title;
    std::vector<HeatRow> rows;         // at least one; they may differ in length
    std::vector<std::string> columns;  // as many names as the longest row has cells; some of them are printed below it
    std::string (*text)(double) = ratio;  // of a value
    double from = 0, to = 1;              // the values of the palest and the darkest colour, from < to
};

// 0 at `from` and below, 1 at `to` and above: how dark a cell is.
double darkness(const HeatMap& map, double value);

// The map's content, in words generated from its data.
std::string description(const HeatMap& map);

// Inline SVG, in the colours of the page's style sheet.
std::string render_svg(const HeatMap& map);

// The map with its heading and its description.
std::string heat_map_html(const HeatMap& map);

}  // namespace deft::reporting
