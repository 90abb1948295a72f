#pragma once
// A measured score against the printed one, where both are of one scale: printed digits are rounded, and a mean over
// seeds would be another with others.

#include <string>
#include <vector>

#include "reporting/analysis/published/published.h"
#include "reporting/analysis/statistics/verdict.h"

namespace deft::reporting {

// "agrees", "better" or "worse": whether the difference, give or take half of the last printed digit, lies within 95%
// of what the means of two such samples of seeds differ by (Student's t; the printed one's spread where it was printed,
// or ours; one seed where none is stated). "no verdict" below three seeds, "not finite" with such a value. `values`:
// one an independent repeat, in the column's unit.
std::string published_verdict(const std::vector<double>& values, const PublishedCell& printed,
                              const PublishedColumn& column, Improves improves);

}  // namespace deft::reporting
