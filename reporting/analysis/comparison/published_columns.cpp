#include "reporting/analysis/comparison/published_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/median.h"
#include "base/suites.h"
#include "base/text.h"
#include "reporting/analysis/glue/glue_scores.h"
#include "reporting/analysis/published/published_verdict.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/analysis/scores/suite_average.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

constexpr int kDigits = 3;  // of percents, as the papers print them

bool is_score(const PublishedColumn& column) {
    return column.measures && column.measures->kind != Quantity::Kind::resource;
}

// Whether measured and printed numbers are of one scale.
bool is_comparable(const PublishedContext& context) {
    return context.scale == "paper" && !is_small_scale(context.sweep, context.scale);
}

bool is_percent(const PublishedColumn& column) {
    return column.unit == "%";
}

const PublishedCell* cell_of(const PublishedRow* row, const PublishedColumn& column) {
    return row == nullptr ? nullptr : row->find(column.key);
}

const PublishedRow* row_of(const PublishedContext& context, const Row& row) {
    return context.table.find(row.recipe, row.axes.budget_fraction);
}

Cell published_cell(const PublishedCell* printed) {
    if (printed == nullptr) return "-";
    Cell cell(printed->number.text, printed->number.value);
    cell.published = printed->number.text;
    cell.doubt = printed->doubt;
    if (printed->spread) cell.text += " ± " + printed->spread->text;
    return cell;
}

Cell signed_cell(double value, int decimals) {
    const std::string text = fmt::format("{:+.{}f}", value, decimals);
    const bool zero = text.find_first_of("123456789") == std::string::npos && std::isfinite(value);
    return {zero ? text.substr(1) : text, value};
}

// Lines that are not empty, joined.
std::string title_of(const PublishedColumn& column, const std::string& second, const std::string& third) {
    std::string title = column.title;
    for (const std::string& line : {second, third})
        if (!line.empty()) title += "\n" + line;
    return title;
}

// "%, 19 tasks"; unit and direction, and the column's other details.
std::string unit_title(const PublishedColumn& column, const std::string& more) {
    return column.unit + (column.better == "higher" ? " ↑" : " ↓") + (more.empty() ? "" : ", " + more);
}

// The tasks that the sweep scored of a column's suite; of a single task that one, where it was scored.
std::set<std::string> tasks_of(const Results& sweep, const Quantity& quantity) {
    std::set<std::string> tasks;
    for (const Trial& trial : sweep.trials) {
        if (trial.state != "ok") continue;
        if (quantity.kind != Quantity::Kind::suite) {
            if (value_of(quantity, trial)) tasks.insert(quantity.name);
        } else if (const auto* tuned = fine_tuned(quantity, trial)) {
            tasks.insert(tuned->columns.begin(), tuned->columns.end());
        } else if (const auto average = suite_average(project_suite(quantity.name), trial.scores, quantity.shots)) {
            tasks.insert(average->tasks.begin(), average->tasks.end());
        }
    }
    return tasks;
}

struct RowScores {
    std::vector<double> values;       // one an independent repeat
    std::size_t trials = 0;           // finished ones that have one
    std::size_t fewest_tasks = 1000;  // among them
    std::string stale = {};           // as a cell's

    double center(const Quantity& quantity) const { return quantity.is_median ? median(values) : mean(values); }
};

RowScores row_scores(const Row& row, const PublishedColumn& column) {
    const Quantity& quantity = *column.measures;
    std::vector<std::pair<const Trial*, double>> scored;
    RowScores out;
    for (const Trial* trial : row.ok) {
        const std::optional<double> value = score_in_unit(*trial, column);
        if (!value) continue;
        scored.emplace_back(trial, *value);
        add_reasons(out.stale, stale_score(quantity, *trial));
        if (quantity.kind == Quantity::Kind::suite && fine_tuned(quantity, *trial) == nullptr)
            out.fewest_tasks =
                std::min(out.fewest_tasks,
                         suite_average(project_suite(quantity.name), trial->scores, quantity.shots)->tasks.size());
    }
    out.trials = scored.size();
    out.values = unit_means(scored);
    return out;
}

// decimals: of differences.
std::string score_text(const PublishedColumn& column, int decimals, double center,
                       const std::optional<double>& spread) {
    if (is_percent(column) && decimals > 1)
        return fmt::format("{:.{}f}", center, decimals) + (spread ? fmt::format(" ± {:.{}f}", *spread, decimals) : "");
    if (is_percent(column)) return significant(center, kDigits) + (spread ? fmt::format(" ± {:.1f}", *spread) : "");
    return score(center) + (spread ? " ± " + score(*spread) : "");
}

Improves improves(const PublishedColumn& column) {
    return improves_where(column.better);
}

FieldScores scores_of(const PublishedColumn& column) {
    return {improves(column), [column](const Row& row) { return row_scores(row, column).values; },
            [column](const Trial& trial) { return guessed(*column.measures, trial); }};
}

// `tasks`: that the sweep scored.
Cell published_score_cell(const Row& row, const PublishedColumn& column, int decimals, std::size_t tasks) {
    const RowScores scores = row_scores(row, column);
    if (scores.values.empty()) return "-";
    Cell cell;
    cell.value = scores.center(*column.measures);
    if (scores.values.size() > 1) cell.spread = standard_deviation(scores.values);
    cell.text = score_text(column, decimals, *cell.value, cell.spread);
    cell.stale = scores.stale;
    if (scores.trials < row.ok.size()) cell.text += fmt::format(" [{} of {}]", scores.trials, row.ok.size());
    if (scores.fewest_tasks < tasks) cell.text += fmt::format(" [{} of {} tasks]", scores.fewest_tasks, tasks);
    return cell;
}

// Behind the point, of a measured difference: as many as are printed of the column, of percents one but of a suite's
// averages; of what no row prints, three.
int decimals_of(const PublishedTable& table, const PublishedColumn& column) {
    if (is_percent(column) && column.measures->kind != Quantity::Kind::suite) return 1;
    std::optional<int> decimals;
    for (const PublishedRow& row : table.rows)
        if (const PublishedCell* cell = row.find(column.key))
            decimals = std::max(decimals.value_or(0), cell->number.places());
    return decimals.value_or(3);
}

Cell measured_difference(const Row& row, const Row& reference, const PublishedColumn& column, int decimals) {
    if (is_imported(row) || is_imported(reference) || !not_measured(reference).empty()) return "-";
    const RowScores own = row_scores(row, column), base = row_scores(reference, column);
    if (own.values.empty() || base.values.empty()) return "-";
    Cell cell = signed_cell(own.center(*column.measures) - base.center(*column.measures), decimals);
    add_reasons(cell.stale, own.stale);
    add_reasons(cell.stale, base.stale);
    add_reasons(cell.stale, stale_training(reference));
    return cell;
}

const std::string& doubt_of_two(const PublishedCell& own, const PublishedCell& base) {
    return own.doubt.empty() ? base.doubt : own.doubt;
}

Cell published_difference(const PublishedCell* own, const PublishedCell* base) {
    if (own == nullptr || base == nullptr) return "-";
    Cell cell =
        signed_cell(own->number.value - base->number.value, std::max(own->number.places(), base->number.places()));
    cell.doubt = doubt_of_two(*own, *base);
    return cell;
}

// "against 100% baseline", with the budget of the rows that the differences really refer to, where it is one.
std::string reference_title(const PublishedContext& context) {
    std::set<std::string> budgets;
    const References references(context.rows, context.base_recipe);
    for (const Row& row : context.rows) budgets.insert(references.of(row).axes.budget_text());
    return budgets.size() == 1 ? fmt::format("against {} baseline", *budgets.begin()) : "against baseline";
}

// How many scores the published average is over: of GLUE, on which models are fine-tuned, the columns, of which MNLI
// has two.
std::size_t scores_of_suite(const PublishedContext& context, const Quantity& quantity) {
    const bool is_tuned = std::any_of(context.sweep.trials.begin(), context.sweep.trials.end(),
                                      [&](const Trial& trial) { return fine_tuned(quantity, trial) != nullptr; });
    return is_tuned ? glue_columns().size() : project_suite(quantity.name).tasks.size();
}

// The cell of one score; nothing where nobody printed it, or the row does not count.
Cell against_published(const PublishedContext& context, const Row& row, const PublishedColumn& column,
                       std::size_t tasks) {
    const PublishedCell* printed = cell_of(row_of(context, row), column);
    const RowScores scores = row_scores(row, column);
    if (printed == nullptr || scores.values.empty() || !not_measured(row).empty()) return "-";
    if (!scores.stale.empty() || !stale_training(row).empty()) return "stale";
    if (column.measures->kind == Quantity::Kind::suite && tasks < scores_of_suite(context, *column.measures))
        return "not comparable";  // an average over fewer tasks
    return published_verdict(scores.values, *printed, column, improves(column));
}

void add_score(const PublishedContext& context, const PublishedColumn& column, std::vector<Field>& fields) {
    const std::size_t tasks = tasks_of(context.sweep, *column.measures).size();
    if (tasks == 0) return;
    const PublishedCell* base = cell_of(context.table.full_budget(context.base_recipe), column);
    const std::string points = is_percent(column) ? "points" : column.unit;
    const int decimals = decimals_of(context.table, column);
    const auto add = [&](std::string title, const char* what, bool published, std::function<Cell(const Row&)> cell) {
        Column head;
        head.id = (published ? "published/" : "") + column.key + what;
        head.title = std::move(title);
        head.published = published;
        head.begins_block = fields.empty();
        fields.emplace_back(std::move(head), std::move(cell));
    };
    const bool is_suite = column.measures->kind == Quantity::Kind::suite;
    const auto references = std::make_shared<const References>(context.rows, context.base_recipe);
    add(title_of(column, "measured", unit_title(column, is_suite ? counted(tasks, "task") : "")), "", false,
        [=](const Row& row) { return published_score_cell(row, column, decimals, tasks); });
    fields.back().scores = scores_of(column);
    add(title_of(column, "(published)", unit_title(column, column.detail)), "", true,
        [=](const Row& row) { return published_cell(cell_of(row_of(context, row), column)); });
    if (is_comparable(context))
        add(title_of(column, "measured against", "(published)"), "/against_published", false,
            [=](const Row& row) { return against_published(context, row, column, tasks); });
    add(title_of(column, reference_title(context), "measured, " + points), "/difference", false,
        [=](const Row& row) { return measured_difference(row, references->of(row), column, decimals); });
    add(title_of(column, "against 100% baseline", "(published), " + points), "/difference", true,
        [=](const Row& row) { return published_difference(cell_of(row_of(context, row), column), base); });
}

bool is_here(const PublishedContext& context, const PublishedRow& published) {
    return std::any_of(context.rows.begin(), context.rows.end(),
                       [&](const Row& row) { return row_of(context, row) == &published; });
}

// Whether the comparison shows it.
bool is_shown(const PublishedContext& context, const PublishedColumn& column) {
    return column.measures && (!is_score(column) || !tasks_of(context.sweep, *column.measures).empty());
}

std::string not_measured_here(const PublishedContext& context) {
    std::vector<std::string> titles;
    for (const PublishedColumn& column : context.table.columns)
        if (column.measures && !is_shown(context, column)) titles.push_back(column.title);
    return fmt::format("{}", fmt::join(titles, ", "));
}

std::string rows_elsewhere(const PublishedContext& context) {
    std::vector<std::string> names;
    for (const PublishedRow& row : context.table.rows)
        if (!is_here(context, row)) names.push_back(row.name());
    return fmt::format("{}", fmt::join(names, ", "));
}

// Seeds and spreads of the printed numbers of the columns shown, where the paper states them, and which it does not
// print.
std::vector<std::string> printed_notes(const PublishedContext& context) {
    std::map<std::int64_t, std::vector<std::string>> titles_of;  // by seeds
    std::vector<std::string> notes;
    for (const PublishedColumn& column : context.table.columns) {
        if (!is_shown(context, column)) continue;
        if (column.seeds > 0) titles_of[column.seeds].push_back(column.title);
        std::string facts = column.aggregate;
        if (!column.spread_kind.empty()) facts += (facts.empty() ? "± " : ", ± ") + column.spread_kind;
        if (!facts.empty()) notes.push_back(fmt::format("{}, published: {}.", column.title, facts));
        for (const PublishedRow& row : context.table.rows)
            for (const auto& [key, reason] : row.missing)
                if (key == column.key && is_here(context, row))
                    notes.push_back(fmt::format("Not published: {} of {}: {}.", column.title, row.name(), reason));
    }
    for (const auto& [seeds, titles] : titles_of)
        notes.push_back(fmt::format("Published by {}: {}.", counted(seeds, "seed"), fmt::join(titles, ", ")));
    return notes;
}

}  // namespace

std::optional<double> score_in_unit(const Trial& trial, const PublishedColumn& column) {
    const std::optional<double> value = value_of(*column.measures, trial);
    const bool is_share = is_percent(column) && column.measures->kind == Quantity::Kind::task;
    return value && is_share ? *value * 100 : value;
}

std::vector<Field> published_resource_fields(const PublishedContext& context, const Resource& resource) {
    std::vector<Field> fields;
    for (const PublishedColumn& column : context.table.columns) {
        if (!column.measures || is_score(column) || !column.measures->name.starts_with(resource.quantity)) continue;
        const PublishedCell* base = cell_of(context.table.full_budget(context.base_recipe), column);
        const auto cell = [=, &context](const Row& row) {
            const PublishedCell* own = cell_of(row_of(context, row), column);
            Cell out = published_cell(own);
            if (own == nullptr) return out;
            out.text += (column.unit.size() > 1 ? " " : "") + column.unit;
            if (base != nullptr && base->number.value > 0) {
                out.aside = ratio(own->number.value / base->number.value);
                out.text += " " + out.aside;
                out.doubt = doubt_of_two(*own, *base);
            }
            return out;
        };
        Column head;
        head.title = title_of(column, "(published)", column.detail);
        head.id = "published/" + column.key;
        head.published = true;
        head.raw_unit = column.unit;
        fields.emplace_back(std::move(head), cell);
    }
    return fields;
}

std::vector<Field> published_score_fields(const PublishedContext& context) {
    std::vector<Field> fields;
    for (const PublishedColumn& column : context.table.columns)
        if (is_score(column)) add_score(context, column, fields);
    return fields;
}

std::vector<std::string> published_notes(const PublishedContext& context) {
    const PublishedTable& table = context.table;
    std::vector<std::string> notes = {
        fmt::format("Published: {}. {} ({}). Every number marked (published) is theirs, at {}.", table.label,
                    table.paper, table.source, table.scale)};
    if (is_comparable(context))
        notes.emplace_back(
            "Measured against published: agrees where both differ by no more than the last printed digit's half and "
            "95% of "
            "what seeds differ by.");
    else
        notes.push_back(
            fmt::format("Not comparable: measured values ({}) with published ones ({}), in absolute terms: model, data "
                        "and tasks are others. "
                        "What can be compared is the effect relative to the baseline at 100%: ratios and differences.",
                        scale_label(context.sweep, context.scale), table.scale));
    for (const PublishedColumn& column : table.columns) {
        if (!column.measures || column.measures->kind != Quantity::Kind::suite) continue;
        const std::set<std::string> tasks = tasks_of(context.sweep, *column.measures);
        if (!tasks.empty())
            notes.push_back(fmt::format("{}, measured: unweighted mean of {} x 100: {}. The published one: {}.",
                                        column.title, counted(tasks.size(), "task"), fmt::join(tasks, ", "),
                                        column.detail));
    }
    for (std::string& note : printed_notes(context)) notes.push_back(std::move(note));
    for (std::string& note : doubt_notes(table, [&](const PublishedRow&row, const PublishedColumn&column) {
             return is_here(context, row) && is_shown(context, column);
         }))
        notes.push_back(std::move(note));
    if (const std::string titles = not_measured_here(context); !titles.empty())
        notes.push_back(fmt::format("Published, but not measured here: {}.", titles));
    for (const PublishedColumn& column : table.columns)
        if (!column.measures)
            notes.push_back(
                fmt::format("Published, but not measured by deft: {}: {}.", column.title, column.not_measured));
    if (const std::string rows = rows_elsewhere(context); !rows.empty())
        notes.push_back(fmt::format("Published rows without a recipe here: {}.", rows));
    return notes;
}

}  // namespace deft::reporting
