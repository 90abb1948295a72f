#include "reporting/views/screen/screen_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"
#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/analysis/statistics/contrast.h"
#include "reporting/numbers.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

constexpr int kCellGap = 2;
constexpr int kLabelWidth = 28;
constexpr int kTokensLeave = 4;  // as ScreenColumn::leaves of the consumed tokens

// The sign of an improvement in the measure's own direction.
double direction(Improves improves) {
    return improves == Improves::downwards ? -1 : 1;
}

RowVerdict verdict_of(const QualityDifference& difference, Improves improves) {
    if (!difference.interval) return RowVerdict::none;
    const double sign = direction(improves);
    const double least = std::min(sign * difference.interval->low, sign * difference.interval->high);
    const double most = std::max(sign * difference.interval->low, sign * difference.interval->high);
    if (least > 0) return RowVerdict::better;
    return most < 0 ? RowVerdict::worse : RowVerdict::inconclusive;
}

// The baseline's row on the same axes, or where it has none the row that ratios refer to.
const Row& counterpart(const std::vector<Row>& rows, const std::string& base_recipe, const Row& row) {
    for (const Row& other : rows)
        if (other.recipe == base_recipe && other.axes.is_like(row.axes) &&
            other.axes.budget_fraction == row.axes.budget_fraction)
            return other;
    return reference_of(rows, base_recipe, row);
}

const Resource* resource(std::string_view quantity) {
    for (const Resource& one : resources())
        if (quantity == one.quantity) return &one;
    return nullptr;
}

// Whether both consumed the same number of tokens, within one percent.
bool has_equal_tokens(const Row& row, const Row& baseline) {
    const Resource* tokens = resource("layer tokens");
    const auto own = mean_of(row, *tokens), others = mean_of(baseline, *tokens);
    return own && others && std::abs(*own / *others - 1) < 0.01;
}

std::string label_of(const Row& row) {
    const std::string axes = row.axes.others_text();
    const std::string label = axes.empty() ? row.recipe : row.recipe + " " + axes;
    return display_width(label) <= kLabelWidth ? label : cut_to_width(label, kLabelWidth - 1) + "…";
}

// "+0.012 [+0.004, +0.020]"; both ends with the decimals of the value.
std::string difference_text(const QualityDifference& difference) {
    if (!difference.interval) return fmt::format("{:+.3f}", difference.value);
    return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", difference.value, difference.interval->low,
                       difference.interval->high);
}

// "CL at 50%", where the rows have several budgets.
std::string label_with_budget(const ScreenRow& row, const ScreenRows& rows) {
    const Axes& axes = row.measured->axes;
    const bool is_only = std::all_of(rows.rows.begin(), rows.rows.end(), [&](const ScreenRow& other) {
        return other.measured->axes.budget_fraction == axes.budget_fraction;
    });
    return axes.has_budget && !is_only ? row.label + " at " + axes.budget_text() : row.label;
}

// A column with its cells, and how early it leaves a table that is too wide.
struct ScreenColumn {
    Column column;
    int leaves = 0;  // 0: never; the largest leaves first
    std::vector<Cell> cells;
};

int width_of(const ScreenColumn& column) {
    int width = 0;
    for (const std::string_view line : lines_of(column.column.title)) width = std::max(width, display_width(line));
    for (const Cell& cell : column.cells) width = std::max(width, display_width(plain_marked_text(cell)));
    return width;
}

int width_of(const std::vector<ScreenColumn>& columns) {
    int total = -kCellGap;
    for (const ScreenColumn& column : columns) total += width_of(column) + kCellGap;
    return total;
}

// The rows that fit: larger budgets first, in the sweep's order among themselves.
std::vector<const ScreenRow*> shown_rows(const ScreenRows& rows, std::size_t most) {
    std::vector<const ScreenRow*> shown;
    for (const ScreenRow& row : rows.rows) shown.push_back(&row);
    if (shown.size() <= most) return shown;
    std::vector<const ScreenRow*> by_budget = shown;
    std::stable_sort(by_budget.begin(), by_budget.end(), [](const ScreenRow* a, const ScreenRow* b) {
        return a->measured->axes.budget_fraction > b->measured->axes.budget_fraction;
    });
    by_budget.resize(most);
    std::erase_if(shown, [&](const ScreenRow* row) {
        return std::find(by_budget.begin(), by_budget.end(), row) == by_budget.end();
    });
    return shown;
}

// The value without its ratio, as "4.84s" of "4.84s 1.00x".
Cell without_aside(Cell cell) {
    if (!cell.aside.empty() && cell.text.ends_with(cell.aside)) cell.text.erase(cell.text.size() - cell.aside.size());
    cell.text.erase(cell.text.find_last_not_of(' ') + 1);
    cell.aside.clear();
    return cell;
}

// The ratio alone, as "1.00x".
Cell aside_of(const Cell& cell) {
    return cell.aside.empty() ? Cell("-") : Cell(cell.aside);
}

// The title and its direction on two lines, broken at the blank nearest to the middle.
std::string two_lines(std::string title, bool is_lower_better) {
    title += is_lower_better ? ", ↓" : ", ↑";
    std::size_t best = std::string::npos;
    const auto distance = [&](std::size_t at) { return std::max(at, title.size() - at); };
    for (std::size_t at = title.find(' '); at < title.rfind(", "); at = title.find(' ', at + 1))
        if (best == std::string::npos || distance(at) < distance(best)) best = at;
    if (best != std::string::npos) title[best] = '\n';
    return title;
}

std::string quality_title(const QualityMeasure& measure) {
    return two_lines(measure.title == "validation bits per byte" ? "validation bits/byte" : measure.title,
                     measure.improves == Improves::downwards);
}

// Whether a published column holds a score other than the measure.
bool is_score_beside(const Quantity& quantity, const std::optional<QualityMeasure>& measure) {
    return quantity.kind != Quantity::Kind::resource && !(measure && measure->quantity == quantity);
}

// One value per independent repeat.
std::vector<double> values_over_seeds(const Quantity& quantity, const Row& row) {
    std::vector<std::pair<const Trial*, double>> values;
    for (const Trial* trial : row.ok)
        if (const std::optional<double> value = value_of(quantity, *trial)) values.emplace_back(trial, *value);
    return unit_means(values);
}

std::vector<ScreenColumn> columns_of(const ScreenRows& rows, const std::vector<const ScreenRow*>& shown,
                                     const Results& sweep, const SweepAbout& about) {
    std::vector<ScreenColumn> columns;
    const auto add = [&](Column column, int leaves, const auto& cell_of) {
        ScreenColumn one{std::move(column), leaves, {}};
        for (const ScreenRow* row : shown) one.cells.push_back(cell_of(*row));
        columns.push_back(std::move(one));
    };
    // A row without a ratio of tokens, as before it or the baseline is trained, has its budget in its label.
    const Field tokens = resource_field(*resource("layer tokens"), rows.measured, rows.base_recipe);
    add(Column{"recipe", Align::left}, 0, [&](const ScreenRow& row) {
        return Cell(tokens.cell(*row.measured).aside.empty() ? label_with_budget(row, rows) : row.label);
    });
    const auto add_resource = [&](std::string_view quantity, const char* title, int leaves, bool as_ratio) {
        const Resource* found = resource(quantity);
        if (found == nullptr) return;
        const Field field = resource_field(*found, rows.measured, rows.base_recipe);
        add(Column{title}, leaves, [&](const ScreenRow& row) {
            const Cell cell = field.cell(*row.measured);
            return as_ratio ? aside_of(cell) : without_aside(cell);
        });
    };
    const bool is_trained =
        std::any_of(shown.begin(), shown.end(), [](const ScreenRow* row) { return !is_imported(*row->measured); });
    if (is_trained) {
        add_resource("layer tokens", "consumed\ntokens", kTokensLeave, true);
        add_resource("train flops", "\nFLOPs", 6, true);
        add_resource("train hours", "train\ntime", 5, false);
    }
    const bool tested =
        std::any_of(shown.begin(), shown.end(), [](const ScreenRow* row) { return row->verdict != RowVerdict::none; });
    if (rows.measure) {
        add(Column{quality_title(*rows.measure)}, 0, [&](const ScreenRow& row) {
            if (!row.quality) return Cell("-");
            const std::string text =
                tested ? score(*row.quality) : mean_and_spread(quality_values(*rows.measure, *row.measured));
            return Cell(row.is_measured ? text : "(" + text + ")", *row.quality);
        });
        if (std::any_of(shown.begin(), shown.end(), [](const ScreenRow* row) { return row->difference.has_value(); }))
            add(Column{tested ? "difference\nto baseline, 95%" : "difference\nto baseline"}, 0,
                [](const ScreenRow& row) {
                    return row.difference ? Cell(difference_text(*row.difference)) : Cell("-");
                });
        if (tested)
            add(Column{"verdict", Align::left}, 3, [](const ScreenRow& row) { return Cell(name(row.verdict)); });
    }
    int others = rows.measure ? 1 : 3;
    // The published score first: the GLUE average of a pretrained model, the zero-shot average.
    if (about.published)
        for (const PublishedColumn& column : about.published->columns) {
            if (others == 0 || !column.measures || !is_score_beside(*column.measures, rows.measure)) continue;
            const auto values_of = [&](const Row& row) { return values_over_seeds(*column.measures, row); };
            if (std::none_of(shown.begin(), shown.end(),
                             [&](const ScreenRow* row) { return !values_of(*row->measured).empty(); }))
                continue;
            --others;
            add(Column{two_lines(column.title, better_of(*column.measures) == "lower")}, 7,
                [&](const ScreenRow& row) { return Cell(mean_and_spread(values_of(*row.measured))); });
        }
    // A rising score beside the measure: accuracies answer what a loss does not.
    for (const Field& field : score_fields(sweep)) {
        if (others == 0) break;
        if (!field.scores || field.scores->improves != Improves::upwards) continue;
        if (rows.measure && rows.measure->improves == Improves::upwards) break;
        --others;
        add(field.column, 7, [&](const ScreenRow& row) { return field.cell(*row.measured); });
    }
    return columns;
}

}  // namespace

const char* name(RowVerdict verdict) {
    switch (verdict) {
        case RowVerdict::better:
            return "better";
        case RowVerdict::worse:
            return "worse";
        case RowVerdict::inconclusive:
            return "inconclusive";
        case RowVerdict::not_measured:
            return "not measured";
        case RowVerdict::none:
            break;
    }
    return "";
}

double ScreenRows::gain_of(const ScreenRow& row) const {
    return row.difference && measure ? direction(measure->improves) * row.difference->value : 0;
}

ScreenRows screen_rows(const Results& sweep, const SweepAbout& about) {
    ScreenRows found;
    found.measured = rows_of(sweep);
    if (found.measured.empty()) return found;
    found.base_recipe = baseline_recipe(found.measured, about.baseline, sweep.name);
    found.measure = quality_measure(found.measured, sweep, about);
    std::map<std::string, double> largest;  // budget by recipe
    for (const Row& row : found.measured) {
        double& budget = largest[row.recipe];
        budget = std::max(budget, row.axes.budget_fraction);
    }
    for (const Row& row : found.measured) {
        ScreenRow line;
        line.measured = &row;
        line.label = label_of(row);
        line.is_baseline = row.recipe == found.base_recipe;
        line.is_full = row.axes.budget_fraction == largest[row.recipe];
        if (found.measure) {
            const std::vector<double> values = quality_values(*found.measure, row);
            line.seeds = values.size();
            line.is_measured = not_measured(row).empty();
            if (!values.empty() && all_finite(values)) line.quality = mean(values);
            if (line.quality && !line.is_baseline) {
                const Row& baseline = counterpart(found.measured, found.base_recipe, row);
                line.difference = quality_difference(values, quality_values(*found.measure, baseline));
                if (line.difference)
                    line.verdict = line.is_measured && not_measured(baseline).empty()
                                       ? verdict_of(*line.difference, found.measure->improves)
                                       : RowVerdict::not_measured;
                line.has_equal_tokens = has_equal_tokens(row, baseline);
            }
        }
        found.rows.push_back(std::move(line));
    }
    return found;
}

Table screen_table(const ScreenRows& rows, const Results& sweep, const SweepAbout& about, std::size_t most_rows,
                   int width) {
    const std::vector<const ScreenRow*> shown = shown_rows(rows, most_rows);
    Table table;
    if (shown.empty()) return table;
    std::vector<ScreenColumn> columns = columns_of(rows, shown, sweep, about);
    while (width > 0 && width_of(columns) > width) {
        const auto least =
            std::max_element(columns.begin(), columns.end(),
                             [](const ScreenColumn& a, const ScreenColumn& b) { return a.leaves < b.leaves; });
        if (least->leaves == 0) break;
        if (least->leaves == kTokensLeave)
            for (std::size_t row = 0; row < shown.size(); ++row)
                columns.front().cells[row] = Cell(label_with_budget(*shown[row], rows));
        columns.erase(least);
    }
    for (std::size_t row = 0; row < shown.size(); ++row) table.rows.emplace_back();
    for (const ScreenColumn& column : columns) {
        table.columns.push_back(column.column);
        for (std::size_t row = 0; row < shown.size(); ++row) table.rows[row].push_back(column.cells[row]);
    }
    const bool has_smaller_budgets =
        std::any_of(rows.rows.begin(), rows.rows.end(), [](const ScreenRow& row) { return !row.is_full; });
    if (shown.size() < rows.rows.size())
        table.notes.push_back(counted(rows.rows.size() - shown.size(), "more row") +
                              (has_smaller_budgets ? " at smaller budgets" : ""));
    return table;
}

}  // namespace deft::reporting
