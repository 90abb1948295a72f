#pragma once
// One cell of a table, back to what it rests on: trials, attempts, commits, data, checkpoints, scorings, and the
// command that repeats it.

#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/results/results.h"
#include "reporting/analysis/trace/traced_column.h"

namespace deft::reporting {

struct TraceQuestion {
    std::string row, column;  // as find_row() and find_column() take them
    std::string root;         // where the results are, for the commands
    std::string repeat_root;  // where a repetition is to go
    // Options of `deft run`, after the sweep's own, that give a trial the shape that it had, as in "--slots gpu:1".
    std::string options;
    std::vector<std::string> from = {};  // files that the results are read from, in place of root
};

// One seed of the row.
struct TracedTrial {
    Trial trial;
    std::string name;
    std::optional<double> value;      // in the column's unit; nothing: it has none
    std::vector<TracedScore> scores;  // what the value is of
    std::string waits_for;            // why it has no value, and what would give it one; empty: it has
};

struct TracedCommand {
    std::string what, line;
};

struct Trace {
    std::string sweep;        // NAME@HASH
    std::string row, column;  // by their first names
    std::string unit;
    std::string cell;                     // as the table prints it; "-" where it is empty
    std::optional<double> value, spread;  // over the seeds, also of a row that does not count
    std::string published;                // printed beside it in the table, with its source; empty: nothing
    std::string flag;                 // why its row does not count, so that the table shows a dash; empty: it counts
    std::string stale;                // why it would be another today; empty: nothing known
    std::string how;                  // it came from the seeds
    std::vector<TracedTrial> trials;  // all of the row, also those that have not finished
    std::string baseline;             // the row whose configuration the differences are to; empty: it is that row
    std::vector<std::string> differences;  // "train.budget_fraction: 1.0 -> 0.5"
    std::vector<TracedCommand> commands;   // that show it
    std::vector<TracedCommand> repeat;     // that repeat it, in their order; empty: nobody knows the sweep's file
    std::vector<std::string> rests_on;     // what the repetition needs for the same number
    std::vector<std::string> waits_for;    // of an empty or partial cell
};

// Errors: usage, for a row or a column that is not there.
Trace trace_cell(const Results& sweep, const SweepAbout& about, const TraceQuestion& question);

// A double with all its digits: 17 significant ones.
std::string exact_text(double value);

// For a terminal.
std::string render_trace(const Trace& trace);
// {"schema": "deft-trace/1", ...}: the same facts, and the configuration of each trial.
std::string render_trace_json(const Trace& trace);

}  // namespace deft::reporting
