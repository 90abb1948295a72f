#pragma once
// Two recipes' losses where they have cost the same: the seeds' curves are read between their points, never beyond
// them.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reporting/curves.h"
#include "reporting/figure.h"
#include "reporting/statistics/verdict.h"
#include "reporting/variants.h"

namespace deft::reporting {

// What training is paid in. Seconds are the training clock, evaluation excluded; dollars are spread over a trial's
// seconds.
enum class Cost { layer_tokens, tokens, flops, seconds, usd };

struct CostWords {
    Cost cost;
    const char* name;   // "layer-tokens", as --by takes it
    const char* title;  // "layer-averaged tokens"
    std::string (*print)(double);
};

const std::vector<CostWords>& cost_words();
const CostWords& words_of(Cost cost);

// A loss by what had been paid.
struct PaidLoss {
    double paid = 0, loss = 0;
};

// Of one seed: by what was paid, which grows from point to point. All finite.
using CostCurve = std::vector<PaidLoss>;

// Between the two points around it; nothing beyond the curve's ends.
std::optional<double> loss_at(const CostCurve& curve, double paid);
// The least that was paid for a loss this low; nothing where the curve has none. A first point that is low enough
// counts.
std::optional<double> paid_for(const CostCurve& curve, double loss);

// One cost, means over the seeds of either side.
struct EqualCostRow {
    double paid = 0;
    double a = 0, b = 0;
    double difference = 0;             // b - a
    std::optional<Interval> interval;  // of it, at 95% by Welch; nothing below three seeds on a side
};

// What one side paid for the loss that the other ended with.
struct Reached {
    double loss = 0;                // the other's last, mean over seeds
    double paid_by_other = 0;       // all of its training, mean over seeds
    std::size_t seeds = 0, of = 0;  // that got there
    std::optional<double> paid;     // mean over the seeds; nothing unless all of them did
};

struct EqualCost {
    Cost by = Cost::layer_tokens;
    bool is_validation = false;  // else the training loss
    std::vector<EqualCostRow> rows;
    std::optional<Reached> b_reaches, a_reaches;  // the other's last loss
    std::string missing;                          // why there are no rows; empty: there are
};

// At that many costs, evenly from the first that all seeds of both sides have to the last. Errors: config, below two.
EqualCost at_equal_cost(const std::vector<CostCurve>& a, const std::vector<CostCurve>& b, std::size_t costs);

// Both sides' curves, of what they are.
struct ComparedCurves {
    Cost by = Cost::layer_tokens;
    bool is_validation = false;
    std::vector<CostCurve> a, b;  // one a finished seed
    std::string missing;          // why nothing can be compared; empty: it can
};

// Of the validation losses, where every finished seed was validated twice or more at what it paid; else of the training
// losses, each the mean over what was logged within the last twentieth of what the shorter side paid in all.
ComparedCurves compared_curves(const Variant& a, const Curves& curves_of_a, const Variant& b, const Curves& curves_of_b,
                               Cost by);

// At ten costs.
EqualCost at_equal_cost(const ComparedCurves& curves);

// Both sides' mean losses with the 95% interval of each mean over its seeds (Student's) as its band.
Figure equal_cost_figure(const ComparedCurves& curves, const std::string& name_a, const std::string& name_b);

}  // namespace deft::reporting
