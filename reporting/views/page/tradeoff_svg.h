#pragma once
// Quality against cost as a picture: small charts side by side, one a kind of cost, with one axis of quality.

#include <string>

#include "reporting/analysis/tradeoff/tradeoff.h"

namespace deft::reporting {

// The picture's content, in words generated from its data.
std::string description(const Tradeoff& tradeoff);

// Inline SVG, in the colours of the page's style sheet. Up is better. `id`: of its title and description in the page.
std::string render_svg(const Tradeoff& tradeoff, const std::string& id);

}  // namespace deft::reporting
