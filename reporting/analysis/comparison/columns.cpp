#include "reporting/analysis/comparison/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/metric.h"
#include "base/score_key.h"
#include "reporting/analysis/cost/comparable_seconds.h"
#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/scores/labelled_notes.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/analysis/scores/scoring_notes.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

bool any_budget(const std::vector<Row>& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.axes.has_budget; });
}

bool any_other_axis(const std::vector<Row>& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.axes.others_text().empty(); });
}

Cell axes_cell(const Row& row) {
    const std::string text = row.axes.others_text();
    return text.empty() ? "-" : text;
}

std::string labelled_recipe(const Row& row) {
    return recipe_text(row) + (scored_under_capacity(row) ? " (under capacity)" : "");
}

Column key_column(const char* title, const char* id) {
    Column column;
    column.title = title;
    column.align = Align::left;
    column.id = id;
    return column;
}

}  // namespace

std::vector<Field> key_fields(const std::vector<Row>& rows) {
    std::vector<Field> fields;
    if (std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.stage != rows.front().stage; }))
        fields.emplace_back(key_column("stage", "stage"), [](const Row& row) { return Cell(row.stage); });
    fields.emplace_back(key_column("recipe", "recipe"), [](const Row& row) { return Cell(labelled_recipe(row)); });
    if (any_budget(rows)) {
        Column budget = key_column("budget", "budget_fraction");
        budget.align = Align::right;
        budget.raw_unit = "fraction";
        fields.emplace_back(std::move(budget), [](const Row& row) {
            if (is_imported(row)) return Cell("-");
            return Cell(row.axes.budget_text(), row.axes.budget_fraction);
        });
    }
    if (any_other_axis(rows)) fields.emplace_back(key_column("axes", "axes"), axes_cell);
    return fields;
}

namespace {

// The order of score columns: first the scores that every model has.
struct ScoreKey {
    int rank = 0;
    ScoreId id;

    auto operator<=>(const ScoreKey&) const = default;
};

int rank_of(const Score& row) {
    if (row.task == "validation") return 0;
    return row.better == "higher" ? 1 : 2;
}

ScoreKey key_of(const Score& row) {
    return {rank_of(row), id_of(row)};
}

using ScoresByKey = std::map<ScoreKey, std::vector<const Score*>>;

ScoresByKey all_scores(const Results& sweep) {
    ScoresByKey columns;
    for (const Trial& trial : sweep.trials)
        if (trial.state == "ok")
            for (const Score& row : trial.scores)
                if (!is_unigram_entropy(row)) columns[key_of(row)].push_back(&row);
    return columns;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

std::string without_prefix(const std::string& task) {
    constexpr std::string_view kPrefix = "embedded_";
    return task.starts_with(kPrefix) ? task.substr(kPrefix.size()) : task;
}

std::string task_text(const ScoreKey& key, const ScoresByKey& scores) {
    const std::string text = without_prefix(key.id.task);
    for (const auto& [other, rows] : scores)
        if (other.id.task != key.id.task && without_prefix(other.id.task) == text)
            return replaced(key.id.task, "_", " ");
    return replaced(text, "_", " ");
}

std::string measure_text(const ScoreKey& key) {
    return replaced(replaced(key.id.metric, "_per_", "/"), "_", " ");
}

const char* arrow(const ScoreKey& key) {
    if (key.id.better == "lower") return " ↓";
    return key.id.better == "higher" ? " ↑" : "";
}

// Two columns of one title would be indistinguishable.
bool split_is_needed(const ScoreKey& key, const ScoresByKey& scores) {
    return std::any_of(scores.begin(), scores.end(), [&](const auto& column) {
        ScoreKey other = column.first;
        const bool differs = other.id.split != key.id.split;
        other.id.split = key.id.split;
        return differs && other == key;
    });
}

std::string score_title(const ScoreKey& key, const std::vector<const Score*>& rows, const ScoresByKey& scores) {
    const std::string measure = measure_text(key);
    std::vector<std::string> details;
    if (!key.id.split.empty() && split_is_needed(key, scores)) details.push_back(key.id.split);
    if (key.id.under_capacity) details.emplace_back("under capacity");
    if (key.id.shots > 0) details.push_back(fmt::format("{}-shot", key.id.shots));
    if (!key.id.unit.empty() && measure.find(key.id.unit) == std::string::npos) details.push_back(key.id.unit);
    const double chance = rows.front()->chance;
    // Never for NaN, which equals nothing.
    if (std::all_of(rows.begin(), rows.end(), [&](const Score* row) { return row->chance == chance; }))
        details.push_back(fmt::format("chance {:.3g}", chance));
    std::string title = task_text(key, scores) + "\n" + measure + arrow(key);
    if (!details.empty()) title += fmt::format("\n({})", fmt::join(details, ", "));
    return title;
}

const Score* find_score(const Trial& trial, const ScoreKey& key) {
    for (const Score& row : trial.scores)
        if (key_of(row) == key) return &row;
    return nullptr;
}

std::vector<std::pair<const Trial*, double>> scored_trials(const Row& row, const ScoreKey& key) {
    std::vector<std::pair<const Trial*, double>> scored;
    for (const Trial* trial : row.ok)
        if (const Score* found = find_score(*trial, key)) scored.emplace_back(trial, found->value);
    return scored;
}

FieldScores scores_of(const ScoreKey& key) {
    FieldScores scores{improves_where(key.id.better),
                       [key](const Row& row) { return unit_means(scored_trials(row, key)); },
                       [key](const Trial& trial) -> std::optional<GuessedScore> {
                           const Score* row = find_score(trial, key);
                           return row == nullptr ? std::nullopt : guessed(*row);
                       }};
    if (is_timed(key.id.metric)) scores.timed = [key](const Trial& trial) { return find_score(trial, key); };
    return scores;
}

// Why any of them would be another today.
std::string stale_scores(const Row& row, const ScoreKey& key) {
    std::string stale;
    for (const Trial* trial : row.ok)
        if (const Score* found = find_score(*trial, key)) add_reasons(stale, found->stale);
    return stale;
}

Cell score_cell(const Row& row, const ScoreKey& key) {
    const auto scored = scored_trials(row, key);
    if (scored.empty()) return "-";
    const std::vector<double> values = unit_means(scored);
    if (is_correlation(key.id.metric) && std::isnan(mean(values))) return "-";  // why, a note says
    Cell cell(mean_and_spread(values), mean(values));
    cell.stale = stale_scores(row, key);
    if (values.size() > 1) cell.spread = standard_deviation(values);
    if (scored.size() < row.ok.size()) cell.text += fmt::format(" [{} of {}]", scored.size(), row.ok.size());
    return cell;
}

}  // namespace

std::vector<Field> score_fields(const Results& sweep) {
    const ScoresByKey scores = all_scores(sweep);
    std::vector<Field> fields;
    for (const auto& [key, rows] : scores) {
        Column column;
        column.title = score_title(key, rows, scores);
        column.id = stable_id(key.id);
        fields.emplace_back(std::move(column),
                            [score_key = key](const Row& row) { return score_cell(row, score_key); });
        fields.back().scores = scores_of(key);
    }
    return fields;
}

std::vector<ScoreColumn> score_columns(const Results& sweep) {
    const ScoresByKey scores = all_scores(sweep);
    std::vector<ScoreColumn> columns;
    for (const auto& [key, rows] : scores)
        columns.push_back({score_title(key, rows, scores), key.id,
                           [wanted = key](const Trial& trial) { return find_score(trial, wanted); }, scores_of(key)});
    return columns;
}

namespace {

Cell resource_cell(const Row& row, const Row& reference, const Resource& resource) {
    if (is_imported(row)) return stated_cell(*row.trials.front()->imported, resource);
    if (is_mixed(row, resource)) return kMixedSlots;
    const std::vector<double> values = values_of(row, resource);
    if (values.empty()) return "-";
    Cell cell(resource.print(mean(values)), mean(values));
    if (values.size() > 1) cell.spread = standard_deviation(values);
    if (!resource.with_ratio) return cell;
    const std::optional<double> base = mean_of(reference, resource);
    if (resource.from_seconds) cell.aside = to_text(seconds_compare(row, reference));
    if (cell.aside.empty() && base && *base > 0) cell.aside = ratio(*cell.value / *base);
    if (!cell.aside.empty()) cell.text += " " + cell.aside;
    return cell;
}

}  // namespace

Cell stated_cell(const results_db::ImportedModel& model, const Resource& resource) {
    return resource.stated == nullptr ? Cell("-") : stated_cell(resource.stated(model), resource.print);
}

Field resource_field(const Resource& resource, const std::vector<Row>& rows, const std::string& base_recipe) {
    Column column;
    column.title = resource.title;
    column.raw_unit = resource.raw_unit;
    column.csv_title = resource.csv_title;
    column.id = resource.id;
    const auto references = std::make_shared<const References>(rows, base_recipe);
    return Field(std::move(column),
                 [&resource, references](const Row& row) { return resource_cell(row, references->of(row), resource); });
}

}  // namespace deft::reporting
