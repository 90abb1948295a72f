#pragma once
// Quantities read off a trial's stored results.

#include <optional>
#include <string>
#include <string_view>

#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/scores/quantity.h"

namespace deft::reporting {

// As stored: a score as its task gives it, a suite's average times 100, training in hours, cost in dollars. Samples a
// second are of the model's full length. A perplexity of the validation is exp of its loss. Nothing where the trial has
// no such result.
std::optional<double> value_of(const Quantity& quantity, const Trial& trial);

// The model's result on that suite in later stages; null where they do not fine-tune it.
const FineTuned* fine_tuned(const Quantity& quantity, const Trial& trial);

// The stored row that a task's value is read off; null where the trial has none.
const Score* score_row(const Quantity& quantity, const Trial& trial);
// Whether it follows from seconds: a time, a rate or dollars.
bool is_from_seconds(const Quantity& quantity);
// The validation score of that measure; null where the trial has none.
const Score* validation_row(const Trial& trial, std::string_view measure);
// Whether it is the validation's, which is stored as its loss.
bool is_perplexity(const Quantity& quantity);

// Why that value would be another today for what it was scored by, as reporting/analysis/results/stale.h says; empty:
// it is not known to be. The training's own reasons are the trial's.
std::string stale_score(const Quantity& quantity, const Trial& trial);
// Whether a row is stale: for its training or for what any finished seed was scored by.
std::string stale_value(const Quantity& quantity, const Row& row);

}  // namespace deft::reporting
