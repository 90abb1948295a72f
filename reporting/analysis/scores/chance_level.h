#pragma once
// Whether a row's scores are significantly above chance. Where the baseline's are not, the task says nothing about
// techniques.

#include <functional>
#include <optional>
#include <span>

#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/scores/quantity.h"

namespace deft::reporting {

// A score with what guessing scores, in one unit.
struct GuessedScore {
    double value = 0;
    double chance = 0;
    double item_error = 0;  // the standard error that the test set's size leaves; 0: unknown
};

using GuessedScoreOf = std::function<std::optional<GuessedScore>(const Trial&)>;

// The chance level of a stored score; nothing where guessing has no score, as for a perplexity.
std::optional<GuessedScore> guessed(const Score& row);

// As value_of() gives the quantity, of a suite in percent: tasks that cannot be guessed count with 0. Nothing for
// resources, and where no task of it can be guessed.
std::optional<GuessedScore> guessed(const Quantity& quantity, const Trial& trial);

// Whether the mean over seeds is not above chance by a one-sided test at that level. Its error is the seeds' and the
// test set's together, for all seeds answer the same documents. False where nothing can be guessed.
bool is_at_chance(std::span<const GuessedScore> by_unit, double level = 0.05);
bool is_at_chance(const Row& row, const GuessedScoreOf& score);

}  // namespace deft::reporting
