#pragma once
// How far a sweep is, and everything about one trial.

#include <string>
#include <vector>

#include "reporting/analysis/results/results.h"
#include "reporting/table.h"

namespace deft::reporting {

// One row a trial: hash, name, state, attempts, step, loss, layer-averaged tokens, first line of the error. A note
// names those of `all` that have the sweep's name too.
Table status_table(const Results& sweep, const std::vector<results_db::SweepHead>& all = {});

// Configuration, provenance, counts, scores, cost and error of one trial, as lines of text; of a model with experts
// also where they were chosen (expert_routing.h).
std::string render_trial(const Trial& trial, const std::vector<journal::ExpertLoad>& experts = {});

}  // namespace deft::reporting
