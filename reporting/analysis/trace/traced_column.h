#pragma once
// The columns of a table as questions that every trial answers, and which of them somebody means.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/results/results.h"

namespace deft::reporting {

// A stored score, and what it is in the column's unit.
struct TracedScore {
    Score row;
    double value = 0;
};

// A task that a column needs the scores of.
struct TaskAsked {
    std::string task;
    std::int64_t shots = 0;
};

struct TracedColumn {
    std::string title;               // as the table has it; empty: nothing has filled that column yet
    std::vector<std::string> names;  // accepted names; messages use the first
    std::string unit;                // empty: none
    bool is_clocked = false;         // time, or what follows from it: no repetition takes the same
    bool of_one_slot = false;        // read only of trials of one slot shape
    bool is_median = false;          // over seeds; otherwise the mean
    std::vector<TaskAsked> tasks;    // of a score; of an average those that any trial was scored by
    std::function<std::optional<double>(const Trial&)> value;      // nothing: the trial has none
    std::function<std::vector<TracedScore>(const Trial&)> scores;  // that enter, of an average several
};

// The columns of one stage's table: consumption of each trial, scores, the averages and scores that the published table
// asks for, and what is asked of the trials and not scored yet. `sweep` must outlive them.
std::vector<TracedColumn> traced_columns(const Results& sweep, const SweepAbout& about);

// Found by one of its names in any spelling of case, blanks and punctuation ("lambada acc", "train_hours", "average
// 0-shot"), or by words of which only this column has all. Errors: usage, where none or several are so called, with
// what there is.
const TracedColumn& find_column(const std::vector<TracedColumn>& columns, const std::string& asked);

}  // namespace deft::reporting
