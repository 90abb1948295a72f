#pragma once
// Figures as HTML: the parts that all pages share, and a page of figures alone.

#include <string>
#include <vector>

#include "reporting/figure.h"

namespace deft::reporting {

// From <!DOCTYPE html> to </head>: no script, no network.
std::string page_head(const std::string& title);

// The figure with its heading and its description.
std::string figure_html(const Figure& figure);

// One self-contained page. The same figures give the same bytes.
std::string render_figures_page(const std::string& title, const std::string& about, const std::vector<Figure>& figures);

}  // namespace deft::reporting
