#pragma once
// The trials whose training points a page draws: of a large sweep few, and reading the points of all takes long.

#include <set>
#include <string>

#include "reporting/analysis/results/results.h"

namespace deft::reporting {

// Their configuration hashes.
std::set<std::string> drawn_trials(const Results& sweep);

}  // namespace deft::reporting
