#pragma once
// The runs that empty cells of a table wait for, and what they would take.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/results/results.h"
#include "reporting/table.h"

namespace deft::reporting {

enum class Lack {
    training,  // a trial that has not finished
    scoring,   // tasks that were asked of a trained model
    seeds,     // repeats that a verdict needs
    edit,      // what no recipe or task of the sweep would fill: its file must be changed, and there is nothing to run
};

struct MissingRun {
    Lack lack = Lack::training;
    std::string name;                           // of the trial or row, or what the file lacks
    std::string why;                            // "failed, nan", "embedded_questions not scored", "2 of 3 seeds"
    std::string fills;                          // "scores and costs of its row", "verdicts: cl_is_better"
    std::optional<double> flops, seconds, usd;  // nothing: unknown; of training the time of its slot
    std::string command;                        // that runs it; of an edit what to write into the file
};

// Estimates that the planning program knows and the results do not.
struct MissingEstimates {
    std::string root;                             // for the commands
    std::map<std::string, double> planned_flops;  // by config hash; empty where the sweep's file is gone or has changed
};

struct MissingRuns {
    std::vector<MissingRun> runs;
    std::string command;  // that runs all of it, seeds for verdicts included; empty: there is nothing to run
};

// Runs of all stages, and of an incomplete search (split_search_trials() comes first). Estimates: a finished trial of
// the same row with another seed; otherwise the plan's FLOPs at the rate and the price of the sweep's finished trials.
// Cheapest first, then runs without an estimate, then edits.
MissingRuns missing_runs(const Results& sweep, const SweepAbout& about, const MissingEstimates& estimates);

// One row a run, with the sum below.
Table missing_table(const MissingRuns& missing, const Results& sweep);
// {"schema": "deft-missing/1", "sweep", "runs", "command", "total"}.
std::string render_missing_json(const MissingRuns& missing, const Results& sweep);

}  // namespace deft::reporting
