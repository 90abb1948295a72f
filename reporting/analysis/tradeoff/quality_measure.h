#pragma once
// The one number that ranks a sweep's models.

#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/scores/quantity.h"
#include "reporting/analysis/statistics/verdict.h"

namespace deft::reporting {

struct QualityMeasure {
    Quantity quantity;
    std::string title;  // "validation bits per byte"
    Improves improves = Improves::downwards;
};

// The score by which the published table's first claim on a score is judged at the sweep's scale; where there is none,
// or no row has it, the validation's bits a byte, or its loss. Nothing where no row has any of them.
std::optional<QualityMeasure> quality_measure(const std::vector<Row>& rows, const Results& sweep,
                                              const SweepAbout& about);

// A value of each independent repeat of the row that has one; of a seed that diverged it may be no number.
std::vector<double> quality_values(const QualityMeasure& measure, const Row& row);

// The score of a model without skill: on the validation text one that knows the token frequencies alone, by a score
// that can be guessed its chance level, by other rising scores 0. Nothing where that is unknown.
struct NothingLearnt {
    double value = 0;
    std::string words;       // "a unigram model"
    std::string definition;  // "which knows only how often each token occurs in the validation text"
};
std::optional<NothingLearnt> nothing_learnt(const QualityMeasure& measure, const Row& baseline);

}  // namespace deft::reporting
