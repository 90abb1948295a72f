#pragma once
// The scores of two recipes, with a verdict on each. The unit is the seed; the verdicts of one comparison are one
// family (Holm 1979).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/analysis/statistics/contrast.h"
#include "reporting/analysis/statistics/variance_choice.h"

namespace deft::reporting {

enum class ScoreVerdict { better, worse, unclear, none };  // b, measured by a

// In JSON: "better", "worse", "unclear", "-".
const char* name(ScoreVerdict verdict);
// In tables, where unclear reads "inconclusive".
const char* word(ScoreVerdict verdict);

// Trials of b whose training also belongs to a: two sweeps may share trials, and one row may have two names.
std::size_t shared_trainings(const Row& a, const Row& b);

struct ScoreDifference {
    std::string title;  // one line: "lambada acc"
    ScoreId id;
    Improves improves = Improves::upwards;
    std::vector<double> a, b;          // one an independent repeat; of a side without the score none
    double difference = 0;             // b - a, of means; 0 where a side has none
    std::optional<Interval> interval;  // of it, at 95%; nothing where seeds give none
    ContrastMethod method = ContrastMethod::welch;
    std::optional<BrownForsythe> equal_variances;  // over the sweep's rows; nothing of two sweeps
    std::optional<double> p_value;                 // two-sided, of no difference, unadjusted; nothing without a verdict
    double adjusted_p = 1;
    ScoreVerdict verdict = ScoreVerdict::none;
    std::string why;                             // there is none; empty: there is
    std::string flag_of_a = {}, flag_of_b = {};  // why the side does not count as measured; empty: it does

    bool is_of_both() const { return !a.empty() && !b.empty(); }
};

// A row with the sweep that it is of, from whose other rows the variance over seeds is pooled.
struct ScoredSide {
    const Results* sweep = nullptr;
    const std::vector<Row>* rows = nullptr;  // of the sweep
    const Row* row = nullptr;
    std::map<std::string, VarianceChoice>* variances = nullptr;  // found for the sweep so far; null: none are kept
};

// Every score that either side has, in the order of the tables' columns. Rows of one sweep are compared by the variance
// that choose_variance() finds over its rows of that stage, rows of two sweeps by each row's own (Welch).
std::vector<ScoreDifference> score_differences(const ScoredSide& a, const ScoredSide& b);

// Adjusts the p-values of all of them together, and gives the verdicts at `level`.
void judge(std::vector<ScoreDifference*> family, double level = 0.05);

}  // namespace deft::reporting
