#pragma once
// How people name a row of a table.

#include <optional>
#include <string>

namespace deft::results_db {

// A row as it is printed:
//
//     NAME                       a recipe, or a trial's name without seeds, stage or axes (is_named())
//     NAME at 50%, NAME 50%      the same at one budget
//
// The suffixes that tables add to a recipe's name, "(imported)" and "(under capacity)", are ignored.
struct RowName {
    std::string name;              // without the budget
    std::optional<double> budget;  // a fraction
};
RowName parse_row_name(const std::string& asked);

// Whether two fractions are one budget, as 0.667 and 2/3.
bool same_budget(double a, double b);

}  // namespace deft::results_db
