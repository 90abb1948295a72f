#pragma once
// A sweep with stages: each stage has tables of its own, for they train and measure other things.

#include <string>
#include <vector>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/results/results.h"
#include "reporting/table.h"

namespace deft::reporting {

struct StageResults {
    std::string name;  // empty: the sweep has no stages
    Results sweep;
};

// In the sweep's order; one without a name where it has no stages.
std::vector<std::string> stage_names(const Results& sweep);

// Copies of the stages' results, in that order; one of all trials where it has no stages.
std::vector<StageResults> stages_of(const Results& sweep);

// The description of a sweep, for the table of one of its stages.
SweepAbout about_stage(const SweepAbout& about, const StageResults& stage);

// The comparisons of all stages one below the other, the stage's name in a first column, for readers that want a single
// table. Its columns are those of any stage; where a stage has no such column, its cells are a dash. The sweep's own
// comparison where it has no stages.
Table comparison_of_stages(const Results& sweep, const SweepAbout& about);

// The cost of training each stage and of all of them; a training that several places share counts once. Empty for a
// sweep without stages.
std::string stage_costs_note(const Results& sweep);

}  // namespace deft::reporting
