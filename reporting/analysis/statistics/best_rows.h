#pragma once
// The rows of a column that may be its best: those that seeds cannot distinguish from the best mean.

#include <span>
#include <vector>

#include "reporting/analysis/statistics/verdict.h"

namespace deft::reporting {

// `rows`: of each its values, one a seed. A row is out where the best mean is better by a one-sided test at level /
// (the other rows), with the variance pooled over the rows: by that number (Bonferroni) the row that is truly best is
// among those marked with a chance of 1 - level at least, however many rows there are. Rows below kFewestSeeds seeds,
// or with a value that is not finite, are neither marked nor compared with. Where the mean of such a row is better than
// the best, it may be the one, and nothing is marked; nor is it below two rows, nor where all values of all rows are
// one, as of a task that no model solves.
std::vector<bool> best_rows(std::span<const std::vector<double>> rows, Improves improves, double level = 0.05);

}  // namespace deft::reporting
