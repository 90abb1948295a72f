#pragma once
// The one number that papers print for a suite of tasks: the unweighted mean of the tasks' scores, times 100.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results_db/store.h"

namespace deft::reporting {

struct SuiteAverage {
    double percent = 0;              // not rounded
    std::vector<std::string> tasks;  // that went into it, sorted
};

// Over the tasks present at that number of shots, each with the metric of the published tables: acc_norm, acc_all or f1
// for the tasks that have it there, acc for all others. Perplexities are never averaged. Nothing where there is no such
// task. As in the reference's evaluation scripts, a missing task is left out of sum and count.
std::optional<SuiteAverage> suite_average(const std::vector<results_db::ScoreRow>& scores, std::int64_t shots);

// To that many significant digits, halves of the binary value to even: what Python's round() gives the same digits.
double round_significant(double value, int digits);
// The same as text, trailing zeros kept: "44.0".
std::string significant(double value, int digits);

}  // namespace deft::reporting
