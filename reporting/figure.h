#pragma once
// A line chart as a value.

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

}  // namespace deft::reporting
