#pragma once
// One axis of a chart: from values to places, and where the ticks stand.

#include <string>
#include <vector>

namespace deft::reporting {

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

}  // namespace deft::reporting
