#pragma once
// Rows of the database as JSON.

#include <optional>
#include <vector>

#include "base/json.h"
#include "reporting/analysis/results/results.h"
#include "reporting/ordered_json.h"

namespace deft::reporting {

// {"number", "digits"}: its digits too, for readers whose numbers are not doubles; null where there is none.
OrderedJson value_json(const std::optional<double>& value);
OrderedJson code_json(const results_db::Code& code);
OrderedJson attempts_json(const std::vector<results_db::AttemptRow>& attempts);
OrderedJson score_json(const Score& row);
OrderedJson checkpoint_json(const std::optional<results_db::Checkpoint>& checkpoint);

// The place of a trial: its axes as an object, and the seeds of its chain.
OrderedJson axes_json(const results_db::TrialRow& trial);
std::string seeds_text(const results_db::TrialRow& trial);

// One trial as deft show prints it, schema "deft-trial/1": hashes, state, counts, cost, scores, attempts, provenance
// and configuration.
std::string render_trial_json(const Trial& trial);

}  // namespace deft::reporting
