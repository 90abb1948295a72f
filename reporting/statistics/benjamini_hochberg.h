#pragma once
// Many tests at once: p-values adjusted so that, of what is called at adjusted p <= q, a share q is false on average
// (Benjamini and Hochberg 1995).

#include <span>
#include <vector>

namespace deft::reporting {

// In the order given; each at least the p it came from and at most 1. Errors (data): a p outside [0, 1].
std::vector<double> benjamini_hochberg(std::span<const double> p_values);

}  // namespace deft::reporting
