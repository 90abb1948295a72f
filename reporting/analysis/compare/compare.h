#pragma once
// Two trials, rows or sweeps side by side: what differs in their configurations, their losses at equal cost, their
// scores.

#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/compare/equal_cost.h"
#include "reporting/analysis/compare/item_differences.h"
#include "reporting/analysis/compare/score_differences.h"
#include "reporting/analysis/results/configuration_diff.h"
#include "reporting/analysis/results/results.h"
#include "reporting/table.h"

namespace deft::reporting {

// The results that one name denotes. They must outlive the comparison.
struct CompareSide {
    std::string name;  // with its sweep, as "quickstart:CL/1"
    const Results* sweep = nullptr;
    const std::vector<Row>* rows = nullptr;  // of the sweep
    const Curves* curves = nullptr;
    enum class Kind { sweep, recipe_rows, row, trial } kind = Kind::sweep;  // recipe_rows: all rows of one recipe
    std::vector<Row> chosen = {};  // that the name means; of a trial a row with that trial alone
};

// A row of either side, or a trial.
struct RowComparison {
    std::string a, b;                                    // their names
    std::vector<ConfigurationDifference> configuration;  // from a to b
    ComparedCurves curves;
    EqualCost losses;
    std::vector<ScoreDifference> scores;
    std::vector<ItemDifference> items;  // of two trials
    std::vector<std::string> notes;
    std::vector<std::string> trials_a = {}, trials_b = {};  // configuration hashes of its finished trials
};

struct Comparison {
    std::string a, b;  // as they are named
    std::vector<RowComparison> rows;
    std::vector<std::string> only_a, only_b;  // rows without a counterpart on the other side
    std::vector<std::string> same;            // rows that are the same trainings on both sides, and not compared
    results_db::SweepHead sweep_a = {}, sweep_b = {};  // of either side
};

// Two sweeps compare their rows of one name; two recipes compare rows of one stage, budget and other axes, else the one
// row of either side. The verdicts of all rows are one family. Errors: usage, for a sweep beside a part of one, a name
// beside itself, or sides without a row in common; database, for damaged items.
Comparison compare(const CompareSide& a, const CompareSide& b, Cost by, const ItemsOf& items);

// The tables of a comparison, in their order.
std::vector<Table> comparison_tables(const Comparison& comparison);
// All of its numbers in one table: a line a cost, a score and a task's items.
Table comparison_lines(const Comparison& comparison);
// {"schema": "deft-compare/1", ...}.
std::string render_comparison_json(const Comparison& comparison);
// One self-contained page, with the losses as pictures. The same comparison gives the same bytes.
std::string render_comparison_page(const Comparison& comparison);

}  // namespace deft::reporting
