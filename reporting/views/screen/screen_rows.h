#pragma once
// The rows of a first screen: each recipe at each budget, with its cost and its difference to the baseline.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/tradeoff/quality_measure.h"
#include "reporting/analysis/tradeoff/relative_quality.h"
#include "reporting/table.h"

namespace deft::reporting {

// none: the baseline, or below three seeds. not_measured: the row or its baseline is below the validity thresholds
// (reporting/analysis/scores/measured.h).
enum class RowVerdict { none, better, worse, inconclusive, not_measured };

const char* name(RowVerdict verdict);  // "" for none

struct ScreenRow {
    const Row* measured = nullptr;
    std::string label;  // "CL", with axes other than the budget
    bool is_baseline = false;
    bool is_full = false;                         // at the largest budget of its recipe
    std::size_t seeds = 0;                        // independent repeats with a quality
    std::optional<double> quality;                // mean over seeds
    std::optional<QualityDifference> difference;  // to the baseline on the same axes; nothing for the baseline itself
    bool has_equal_tokens = false;                // that baseline consumed as many
    RowVerdict verdict = RowVerdict::none;        // by the 95% interval of the difference
    bool is_measured = true;                      // else the row counts in no verdict
};

struct ScreenRows {
    std::vector<Row> measured;
    std::string base_recipe;
    std::optional<QualityMeasure> measure;
    std::vector<ScreenRow> rows;  // in the sweep's order

    // Positive: the row is better by that much.
    double gain_of(const ScreenRow& row) const;
};

// `sweep` must outlive the rows; of a sweep with stages, one stage.
ScreenRows screen_rows(const Results& sweep, const SweepAbout& about);

// At most `most_rows` rows: the largest budget first, then the next. Columns leave from the least important until the
// table fits `width`.
Table screen_table(const ScreenRows& rows, const Results& sweep, const SweepAbout& about, std::size_t most_rows,
                   int width);

}  // namespace deft::reporting
