#pragma once
// A line chart as a value, and its renderer.

#include <cstddef>
#include <string>
#include <vector>

namespace deft::reporting {

// A mean over seeds, and how far they reach: Figure::band says by what. All finite.
struct CurvePoint {
    double x = 0, y = 0, low = 0, high = 0;
};

struct Series {
    std::string name;
    std::size_t style = 0;  // colour and marker
    std::size_t dash = 0;   // 0: solid
    std::size_t seeds = 0;
    std::vector<CurvePoint> points;  // by x
    std::vector<CurvePoint> marks;   // drawn as larger markers: validation
    std::size_t not_finite = 0;      // points that no chart can hold
};

struct Figure {
    std::string id;  // of its title and description in the page
    std::string title, x_title, y_title;
    std::vector<Series> series;
    std::vector<std::string> not_drawn;  // names of series beyond those that a reader can distinguish
    bool schedule = false;               // planned, not measured: linear axes, no best line
    std::string band = "their range";    // of the seeds: what `low` and `high` are
    bool log_x = false;                  // a logarithmic axis, however near the values are
    std::string words = {};              // what it shows; empty: description() makes it from the data
};

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
// About how wide a text is in the widest common system font.
double svg_text_width(const std::string& text);

// Adds the horizontal line of a tick to the path `grid`, and its text, left of it by `gap`, to `labels`.
void add_tick_svg(const Tick& tick, double left, double right, double y, double gap, std::string& grid,
                  std::string& labels);

}  // namespace deft::reporting
