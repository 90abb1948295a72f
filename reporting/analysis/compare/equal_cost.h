#pragma once
// Two recipes' losses where they have cost the same: the seeds' curves are read between their points, never beyond
// them.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/statistics/verdict.h"
#include "reporting/figure.h"
#include "reporting/loss_curve.h"

namespace deft::reporting {

// The costs of training. Seconds are the training clock, evaluation excluded; dollars are spread over a trial's
// seconds.
enum class Cost { layer_tokens, tokens, flops, seconds, usd };

struct CostWords {
    Cost cost;
    const char* name;   // "layer-tokens", as --by takes it
    const char* title;  // "consumed tokens"
    std::string (*print)(double);
};

const std::vector<CostWords>& cost_words();
const CostWords& words_of(Cost cost);

// One cost, means over the seeds of either side.
struct EqualCostRow {
    double paid = 0;
    double a = 0, b = 0;
    double difference = 0;             // b - a
    std::optional<Interval> interval;  // of it, at 95% by Welch; nothing below three seeds on a side
};

// The cost at which either side first reaches the other's final loss, by means over seeds and one rule: the least
// for which its mean is that low.
struct Reached {
    double loss = 0;
    double paid_by_it = 0;                // by the side that ends with it
    std::optional<double> paid_by_other;  // nothing where the other's mean never gets there
    // The costs between which the other's loss is not surely another at 95%, by Welch's test at each cost: from the
    // first at which it is not surely higher to the first at which it is surely lower. Nothing of an end: never.
    struct Range {
        std::optional<double> from, to;
    };
    std::optional<Range> range;  // of paid_by_other; nothing below three seeds on a side
};

struct EqualCost {
    Cost by = Cost::layer_tokens;
    bool is_validation = false;  // else the training loss
    std::vector<EqualCostRow> rows;
    std::optional<Reached> of_a, of_b;  // the loss with which A, with which B ends
    std::string missing;                // why there are no rows; empty: there are
};

// At that many costs, evenly from the first that all curves of both sides have to the last. Errors: config, below two.
EqualCost at_equal_cost(const std::vector<LossCurve>& a, const std::vector<LossCurve>& b, std::size_t costs);

// Both sides' curves, of what they are.
struct ComparedCurves {
    Cost by = Cost::layer_tokens;
    bool is_validation = false;
    std::vector<LossCurve> a, b;  // one an independent seed: trials that nest in one are averaged
    std::string missing;          // why nothing can be compared; empty: it can
};

// Validation losses, where every finished trial was validated at least twice at what it paid; else training losses of
// the training losses, each the mean over what was logged within the last twentieth of what the shorter side paid in
// all, without what experts are balanced by. Missing too where the two read other data, for then their losses are of
// other texts, and where training losses are of thinned curves, whose means have few points.
ComparedCurves compared_curves(const Row& a, const Curves& curves_of_a, const Row& b, const Curves& curves_of_b,
                               Cost by);

// At ten costs.
EqualCost at_equal_cost(const ComparedCurves& curves);

// Both sides' mean losses with the 95% interval of each mean over its seeds (Student's) as its band, from three seeds
// on.
Figure equal_cost_figure(const ComparedCurves& curves, const std::string& name_a, const std::string& name_b);

}  // namespace deft::reporting
