#pragma once
// The columns of a comparison: row keys, scores, and the resources that training consumed.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reporting/analysis/cost/resource.h"
#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/scores/chance_level.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/analysis/statistics/verdict.h"
#include "reporting/table.h"

namespace deft::reporting {

// The values that a column of scores compares rows by.
struct FieldScores {
    Improves improves = Improves::upwards;
    std::function<std::vector<double>(const Row&)> values;  // one an independent repeat
    GuessedScoreOf guessed;                                 // of one trial, beside what guessing scores
    // Only for a time or a rate: the score of one trial, or null. It compares on one shape of worker alone.
    std::function<const Score*(const Trial&)> timed = {};
};

// One column, and how a row fills it.
struct Field {
    Column column;
    std::function<Cell(const Row&)> cell;
    std::optional<FieldScores> scores = {};  // of a column of measured scores

    Field(Column head, std::function<Cell(const Row&)> fill) : column(std::move(head)), cell(std::move(fill)) {}
};

// The columns that identify the rows of a sweep's tables: recipe, budget, other axes; budget and axes only where the
// sweep has them.
std::vector<Field> key_fields(const std::vector<Row>& rows);

// A column for every score seen anywhere in a sweep, so that a gap shows as a gap.
// Validation first, then what is better higher, then the rest. The unigram entropy, which says nothing of a model, has
// no column. `sweep` must outlive the fields.
std::vector<Field> score_fields(const Results& sweep);

// The content of one of those columns.
struct ScoreColumn {
    std::string title;  // the column's
    ScoreId id;
    std::function<const Score*(const Trial&)> find;  // null where a trial has none
    FieldScores scores;
};

// In the order of score_fields().
std::vector<ScoreColumn> score_columns(const Results& sweep);

// The value that the user states for an imported model, or "-".
Cell stated_cell(const results_db::ImportedModel& model, const Resource& resource);

// Its column. `rows` must outlive it.
Field resource_field(const Resource& resource, const std::vector<Row>& rows, const std::string& base_recipe);

}  // namespace deft::reporting
