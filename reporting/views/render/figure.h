#pragma once
// The renderer of line charts.

#include <cstddef>
#include <string>
#include <vector>

#include "reporting/figure.h"

namespace deft::reporting {

// The figure's content, in words generated from its data.
std::string description(const Figure& figure);

// Inline SVG. Colours come from the page's style sheet (classes s0.. and their variables).
std::string render_svg(const Figure& figure);

// One axis of a chart: from values to places, with its ticks.

struct Axis {
    bool log = false;
    double from = 0, to = 1;  // values at its two ends, from < to
};

// Logarithmic where all values are positive and the greatest is at least `log_ratio` times the least; a linear axis of
// positive values that reach far down begins at zero. All values finite; any number of them.
Axis axis_for(const std::vector<double>& values, double log_ratio);

// 0 at `from`, 1 at `to`.
double place_on(const Axis& axis, double value);

struct Tick {
    double value = 0;
    std::string text;
};

// About `wanted` round values, all of them on the axis.
std::vector<Tick> ticks(const Axis& axis, int wanted);

// Colour (a class of the style sheet), marker and dash distinguish lines; each repeats after some.
inline constexpr std::size_t kLineColours = 8;
// A marker centred on that place, filled with the colour around it.
std::string marker_svg(std::size_t style, double x, double y, double r);
// The attribute of a line's dash; empty of a solid one.
std::string dash_svg(std::size_t dash);

// A coordinate in SVG: one decimal at most.
std::string svg_number(double value);

struct SvgPoint {
    double x = 0, y = 0;
};
// A path through the points, rounded to one decimal. After the first it has steps, which are shorter than points; they
// add up to the rounded points.
std::string path_svg(const std::vector<SvgPoint>& points);

// About how wide a text is in the widest common system font.
double svg_text_width(const std::string& text);

// Adds the horizontal line of a tick to the path `grid`, and its text, left of it by `gap`, to `labels`.
void add_tick_svg(const Tick& tick, double left, double right, double y, double gap, std::string& grid,
                  std::string& labels);

}  // namespace deft::reporting
