#pragma once
// A roofline as a chart: inline SVG, coloured by the page's style sheet.

#include <string>

#include "reporting/roofline.h"
#include "reporting/views/render/figure.h"

namespace deft::reporting {

// Logarithmic axes that hold every point that has a place, every compute roof, and the ridge of the highest with the
// slowest other.
struct RooflineAxes {
    Axis intensity, rate;
};
RooflineAxes axes_of(const Roofline& roofline);

// The width of a chart in its own units.
inline constexpr double kRooflineWidth = 480;

// The place of an intensity and of a rate in it.
double roofline_x(const RooflineAxes& axes, double intensity);
double roofline_y(const RooflineAxes& axes, double rate);

// "0.25", "45.8", "1.23k".
std::string intensity_text(double intensity);

// "compute roof (AVX2 FMA)": the words for a kernel's bound.
std::string bound_text(const Roof& roof);

// A mark a kernel, its shape and colour by what bounds it, and its name, numbers and bound as its title. `id`: of the
// picture's title in the page.
std::string roofline_svg(const Roofline& roofline, const std::string& id);

}  // namespace deft::reporting
