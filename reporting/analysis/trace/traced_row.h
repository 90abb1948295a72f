#pragma once
// Which row of a table somebody means.

#include <string>
#include <vector>

#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

// A row is asked for as it is printed:
//
//     RECIPE, RECIPE:STAGE, RECIPE[axis=value,...]  as in a trial's name, of which stage and axes may be left out
//     ... at 50%, ... 50%                           the budget after any of these, as the table's column says it
//
// A table's additions to a recipe's name, "(imported)" and "(under capacity)", may stay.
// Errors: usage, where no row or several are so called, with the nearest or with all of them.
const Row& find_row(const std::vector<Row>& rows, const std::string& asked);

}  // namespace deft::reporting
