#pragma once
// A paper's columns, each right beside the measured one that answers the same question.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reporting/columns.h"
#include "reporting/published.h"
#include "results_db/store.h"

namespace deft::reporting {

// What the published columns are to be laid beside; all must outlive the fields.
struct PublishedContext {
    const PublishedTable& table;
    const results_db::SweepResults& sweep;
    const std::vector<Variant>& variants;
    std::string base_case;
    std::string scale;
};

// Beside the measured train time: hours, and their ratio to the published baseline. At most one field.
std::vector<Field> published_time_fields(const PublishedContext& context);

// For each suite average that this sweep measured: measured, published, and both against the baseline at 100%.
std::vector<Field> average_fields(const PublishedContext& context);

// Source, what does not compare, and what was published but not measured here.
std::vector<std::string> published_notes(const PublishedContext& context);

// The one number that papers print for a suite of tasks: the unweighted mean of the tasks' scores, times 100.

struct SuiteAverage {
    double percent = 0;              // not rounded
    std::vector<std::string> tasks;  // that went into it, sorted
};

// Over the tasks present at that number of shots, each with its measure in experiments/suites.toml, suite
// data_efficiency; acc for those that are not in it. Perplexities are never averaged. Nothing where there is no such
// task. As in the reference's evaluation scripts, a missing task is left out of sum and count.
std::optional<SuiteAverage> suite_average(const std::vector<results_db::ScoreRow>& scores, std::int64_t shots);

// To that many significant digits, halves of the binary value to even: what Python's round() gives the same digits.
double round_significant(double value, int digits);
// The same as text, trailing zeros kept: "44.0".
std::string significant(double value, int digits);

}  // namespace deft::reporting
