#pragma once
// Rooflines as one HTML file that needs no network and shows everything without its script.

#include <string>
#include <vector>

#include "reporting/roofline.h"

namespace deft::reporting {

struct RooflinePage {
    std::string title, about;
    std::vector<Roofline> rooflines;  // a chart each
    std::vector<std::string> notes;   // how the kernels were measured
};

// Charts beside each other, then every kernel in a table. The same page gives the same bytes.
std::string render_roofline_page(const RooflinePage& page);

}  // namespace deft::reporting
