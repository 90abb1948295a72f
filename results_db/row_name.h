#pragma once
// How people name a row of a table.

#include <optional>
#include <string>

namespace deft::results_db {

// A row as it is printed:
//
//     NAME                          a recipe, or a trial's name of which seeds, stage and axes may be left out
//     (is_named()) NAME at 50%, NAME 50%         the budget after it, as the table's column has it
//
// A table's additions to a recipe's name, "(imported)" and "(under capacity)", may stay.
struct RowName {
    std::string name;              // without the budget
    std::optional<double> budget;  // a fraction
};
RowName parse_row_name(const std::string& asked);

// Whether two fractions are one budget, as 0.667 and 2/3.
bool same_budget(double a, double b);

}  // namespace deft::results_db
