#pragma once
// A line chart as a value, and its renderer.

#include <cstddef>
#include <string>
#include <vector>

namespace deft::reporting {

// A mean over seeds and the least and greatest of them. All finite.
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
    std::vector<std::string> not_drawn;  // names of series beyond those that a reader can tell apart
    bool schedule = false;               // planned, not measured: linear axes, no best line
};

// What the figure shows, in words generated from its data.
std::string description(const Figure& figure);

// Inline SVG. Colours come from the page's style sheet (classes s0.. and the variables behind them).
std::string render_svg(const Figure& figure);

}  // namespace deft::reporting
