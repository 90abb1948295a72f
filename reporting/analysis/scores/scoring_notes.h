#pragma once
// Notes below a table on how its scores were made.

#include <string>
#include <vector>

#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

// Whether the trial's configuration asks for its best validated weights as its result.
bool selects_best(const Trial& trial);

// Whether a score of it was made while the model's experts kept to training's capacity; in other rows they drop
// nothing.
bool scored_under_capacity(const Row& row);

// Which rows were scored under training's capacity, which weights were scored where that is chosen, and the prompts
// that did not fit into the model: of each task the share that was cut from the left, and the mean number of worked
// examples that were left, over the finished trials.
std::vector<std::string> scoring_notes(const std::vector<Row>& rows);

}  // namespace deft::reporting
