#pragma once
// Quality against what it cost: the rows of a sweep that trains its recipes at several budgets.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/results/results.h"
#include "reporting/analysis/statistics/verdict.h"
#include "reporting/analysis/tradeoff/relative_quality.h"

namespace deft::reporting {

// The costs of quality.
struct CostAxis {
    const char* quantity;  // of reporting/analysis/scores/quantity.h
    const char* title;     // of an axis
    const char* noun;      // after "1/3.1 of its"
    bool is_published;     // whether the papers' "12.5 times less data, time and cost" is of it
};
inline constexpr std::array<CostAxis, 4> kCostAxes = {{{"layer tokens", "consumed tokens", "tokens", true},
                                                       {"train flops", "FLOPs", "FLOPs", false},
                                                       {"train hours", "training time", "training time", true},
                                                       {"cost usd", "US dollars", "dollars", true}}};

// One row: a recipe at one budget.
struct TradeoffPoint {
    std::string name;  // "CL at 8%"
    double budget = 1;
    std::size_t seeds = 0, asked = 0;             // that have a score, and that the sweep asks for
    double quality = 0;                           // mean over seeds
    std::optional<Interval> interval;             // of it
    std::optional<QualityDifference> difference;  // to the baseline at the same budget; nothing of the baseline itself
    std::optional<RelativeQuality> relative;
    std::array<std::optional<double>, kCostAxes.size()> cost;  // means over finished seeds; seconds of time
    std::string flag;                                          // why it does not count as measured; empty: it does

    bool counts() const { return flag.empty(); }
};

struct TradeoffLine {
    std::string name;
    bool is_baseline = false;
    std::size_t style = 0, dash = 0;    // of the recipe, as in the page's other figures; of the line
    std::vector<TradeoffPoint> points;  // by budget, the smallest first; at least one
    std::size_t rows = 0;               // of the sweep, those that are left out among them

    const TradeoffPoint* at_budget(double budget) const;  // null where there is none
    std::size_t counting() const;                         // points that count as measured
};

// A paper's printed tradeoff: a share of the baseline's quality at a part of its cost.
struct PublishedTradeoff {
    std::string row;  // "CL+random-LTD at 8%"
    std::string source, scale;
    double share = 0, saving = 0;  // 0.95 and 12.5
};

struct Tradeoff {
    std::string title;       // of the quality: "validation bits per byte"
    QualityScale scale;      // by which shares are computed
    std::string nothing;     // what shares are gains over: "a unigram model"; empty: there are no shares
    std::string definition;  // of a share, in words; empty: there are none
    std::vector<TradeoffLine> lines;
    TradeoffPoint reference;  // the baseline at its largest budget: a share of 100%, without an interval
    std::optional<PublishedTradeoff> published;
    std::vector<std::string> notes;  // on what is not drawn, and on what does not compare
};

// For a sweep, or one stage of it. Nothing unless two recipes or more are trained at two budgets or more, and the
// baseline has a score at its largest that is better than a model without skill. Rows that do not count as measured are
// flagged. Rows that are stale, that have a diverged seed, or that go on from another model, whose cost is not theirs
// alone, are named and left out; so are times and dollars of rows whose seconds do not compare with the baseline's.
std::optional<Tradeoff> tradeoff_of(const Results& sweep, const SweepAbout& about);

// Whether a recipe has paid in that at two budgets or more, and what a point has, relative to the baseline on all of
// the data.
bool has_cost(const Tradeoff& tradeoff, std::size_t axis);
std::optional<double> cost_share(const Tradeoff& tradeoff, const TradeoffPoint& point, std::size_t axis);

}  // namespace deft::reporting
