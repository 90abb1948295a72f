#pragma once
// A sweep's search of the learning rate: what each row validated at each rate, and which is the best.

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "reporting/analysis/results/results.h"
#include "reporting/table.h"

namespace deft::reporting {

// Takes the trials of the search out of `trials` into `searched`: no table of the sweep counts them.
void split_search_trials(Results& sweep);

// One row of the table at one rate.
struct SearchedRate {
    double rate = 0;
    std::vector<const Trial*> trials;  // of every seed of the search
    std::optional<double> value;       // of the validation, mean over the seeds; nothing: not all of them have one
    std::optional<double> spread;      // standard deviation over them, where there are several
    bool diverged = false;             // a seed's loss was no number any more
    bool is_whole() const { return value.has_value() || diverged; }
};

struct SearchedRow {
    std::string recipe;
    Json axes;                        // without the rate
    std::vector<SearchedRate> rates;  // ascending
    std::optional<std::size_t> best;  // nothing: some rate has not ended, or all diverged
    bool is_whole() const;
    // Whether the best rate is the first or the last of its list, so that one outside may be better.
    bool is_at_end() const { return best && (*best == 0 || *best + 1 == rates.size()); }
    std::string name() const;  // "CL[budget_fraction=0.5]"
};

// Trials of the search, grouped by row in their order. They point into `trials`. Equal values prefer the smaller rate
// as the best.
std::vector<SearchedRow> searched_rows(const std::vector<Trial>& trials);

// The rates that were tried, and their cost; nothing where the sweep searched nothing.
std::optional<Table> rate_search_table(const Results& sweep);

// A note beside verdicts: rows of that recipe whose best rate is at the end of its list. Empty: none.
std::string rate_at_end_note(const Results& sweep, const std::vector<std::string>& recipes);

}  // namespace deft::reporting
