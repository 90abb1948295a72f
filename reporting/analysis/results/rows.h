#pragma once
// The rows of a comparison: trials that differ in nothing but the seed.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reporting/analysis/results/results.h"

namespace deft::reporting {

// A trial's position in its sweep, as people name it.
struct Axes {
    bool has_budget = false;
    double budget_fraction = 1;  // of the baseline's tokens; of later stages that of what they start from
    std::map<std::string, std::string> others;  // sorted, values as canonical JSON text
    // Other axes whose value the budget decides, in all rows of the stage, as where the two go together: they
    // distinguish no further rows.
    std::set<std::string> follow_budget = {};

    // Whether they differ in nothing but the budget.
    bool is_like(const Axes& other) const;
    // Whether they differ in nothing but the budget and [train], as in the learning rate.
    bool trains_like(const Axes& other) const;
    std::string budget_text() const;  // "50%"
    std::string others_text() const;  // "model.layers=4, train.seqlen=128", of those that distinguish rows
};

// Text that is not a JSON object reads as no axes.
Axes parse_axes(const std::string& axes_json);

struct Row {
    std::string stage;  // empty: the sweep has none
    std::string recipe;
    std::string name;  // "cl[budget_fraction=0.5]": a trial's name without its seed
    Axes axes;
    std::vector<const Trial*> trials;  // all seeds, in the sweep's order
    std::vector<const Trial*> ok;      // those that finished
};

// "train.warmup_tokens goes with the budget: 4160 at 32%, 13000 at 100%", of each axis that does, and stage.
std::vector<std::string> budget_axes_notes(const std::vector<Row>& rows);

// The seed that a trial counts by: that of the first trial of its chain, in which the seeds of later stages nest.
std::string unit_seed(const Trial& trial);

// Independent repeats among those trials.
std::size_t unit_count(const std::vector<const Trial*>& trials);

// A value of each of some trials, averaged by unit_seed() first: the spread of these is one over independent repeats.
std::vector<double> unit_means(const std::vector<std::pair<const Trial*, double>>& values);

// In the order of the sweep. They point into it.
std::vector<Row> rows_of(const Results& sweep);

// The recipe that ratios refer to: the one asked for, or the first that was trained. Empty for a sweep without trials.
// Errors: usage, for a recipe that is not in the sweep.
std::string baseline_recipe(const std::vector<Row>& rows, const std::string& asked, const std::string& sweep);

// That recipe's row at the largest budget; among several, the one that agrees with `row` on the other axes. Where
// none at the largest budget does, the largest that does; but where the largest has one row, which differs in [train]
// alone, as where a smaller budget was trained at several rates, that one.
const Row& reference_of(const std::vector<Row>& rows, const std::string& recipe, const Row& row);

// The same for many rows: what decides it is gathered once. The rows must outlive it.
class References {
 public:
    References(const std::vector<Row>& rows, const std::string& recipe);
    const Row& of(const Row& row) const;

 private:
    struct Stage {
        const Row* largest = nullptr;            // the first of the largest budget
        bool is_only = false;                    // the only one of that budget
        std::map<std::string, const Row*> like;  // the first of the largest budget by the other axes
    };
    std::map<std::string, Stage> stages_;
};

}  // namespace deft::reporting
