#pragma once
// The one number that papers print for a suite of tasks: the unweighted mean of the tasks' scores, times 100.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/suites.h"
#include "reporting/analysis/results/results.h"

namespace deft::reporting {

struct SuiteAverage {
    double percent = 0;              // not rounded
    std::vector<std::string> tasks;  // that went into it, sorted; of one with several splits "task/split"
    std::vector<const Score*> rows;  // theirs, in that order, among the scores that were given
    std::string stale;  // why scores among them would be others today, as reporting/analysis/results/stale.h says
};

// Over the tasks present at that number of shots, each with its measure in the suite; acc for those that are not in it.
// Each split of a task counts by itself. Perplexities and validations are never averaged. Nothing where there is no
// such task. As in the reference's evaluation scripts, a missing task is left out of sum and count.
std::optional<SuiteAverage> suite_average(const Suite& suite, const std::vector<Score>& scores, std::int64_t shots);

// To that many significant digits, halves of the binary value to even: what Python's round() gives the same digits.
double round_significant(double value, int digits);
// The same as text, trailing zeros kept: "44.0".
std::string significant(double value, int digits);

}  // namespace deft::reporting
