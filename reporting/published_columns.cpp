#include "reporting/published_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "base/suites.h"
#include "base/text.h"
#include "reporting/imported.h"
#include "reporting/numbers.h"
#include "reporting/sweep_text.h"

namespace deft::reporting {

namespace {

using results_db::TrialRow;

constexpr int kDigits = 3;  // of a suite average, as the papers print it

const PublishedColumn* column_of(const PublishedTable& table, Measures measures) {
    for (const PublishedColumn& column : table.columns)
        if (column.measures == measures) return &column;
    return nullptr;
}

std::int64_t shots_of(Measures measures) {
    return measures == Measures::ten_shot_average ? 10 : 0;
}

const PrintedNumber* number_of(const PublishedRow* row, const PublishedColumn& column) {
    return row == nullptr ? nullptr : row->find(column.key);
}

const PrintedNumber* number_of(const PublishedContext& context, const Variant& variant, const PublishedColumn& column) {
    return number_of(context.table.find(variant.case_key, variant.axes.budget_fraction), column);
}

// Places behind the point that a printed number has.
int places(const PrintedNumber& number) {
    const std::size_t point = number.text.find('.');
    return point == std::string::npos ? 0 : static_cast<int>(number.text.size() - point - 1);
}

Cell published_cell(const PrintedNumber* number) {
    if (number == nullptr) return "-";
    Cell cell(number->text, number->value);
    cell.published = number->text;
    return cell;
}

Cell signed_cell(double value, int decimals) {
    const std::string text = fmt::format("{:+.{}f}", value, decimals);
    const bool zero = text.find_first_of("123456789") == std::string::npos && std::isfinite(value);
    return {zero ? text.substr(1) : text, value};
}

std::string title_of(const PublishedColumn& column, const std::string& second, const std::string& third) {
    return fmt::format("{}\n{}\n{}", column.title, second, third);
}

std::set<std::string> tasks_of(const results_db::SweepResults& sweep, std::int64_t shots) {
    std::set<std::string> tasks;
    for (const TrialRow& trial : sweep.trials)
        if (trial.state == "ok")
            if (const auto average = suite_average(trial.scores, shots))
                tasks.insert(average->tasks.begin(), average->tasks.end());
    return tasks;
}

struct Averages {
    std::vector<double> percents;     // one a finished seed that has one
    std::size_t fewest_tasks = 1000;  // among them
};

Averages averages_of(const Variant& variant, std::int64_t shots) {
    Averages out;
    for (const TrialRow* trial : variant.ok)
        if (const auto average = suite_average(trial->scores, shots)) {
            out.percents.push_back(average->percent);
            out.fewest_tasks = std::min(out.fewest_tasks, average->tasks.size());
        }
    return out;
}

Cell average_cell(const Variant& variant, std::int64_t shots, std::size_t tasks) {
    const Averages averages = averages_of(variant, shots);
    if (averages.percents.empty()) return "-";
    const double center = mean(averages.percents);
    Cell cell(significant(center, kDigits), center);
    if (averages.percents.size() > 1) {
        cell.spread = standard_deviation(averages.percents);
        cell.text += fmt::format(" ± {:.1f}", *cell.spread);
    }
    if (averages.percents.size() < variant.ok.size())
        cell.text += fmt::format(" [{} of {}]", averages.percents.size(), variant.ok.size());
    if (averages.fewest_tasks < tasks) cell.text += fmt::format(" [{} of {} tasks]", averages.fewest_tasks, tasks);
    return cell;
}

Cell measured_difference(const Variant& variant, const Variant& reference, std::int64_t shots) {
    if (is_imported(variant) || is_imported(reference)) return "-";
    const Averages own = averages_of(variant, shots), base = averages_of(reference, shots);
    if (own.percents.empty() || base.percents.empty()) return "-";
    return signed_cell(mean(own.percents) - mean(base.percents), 1);
}

Cell published_difference(const PrintedNumber* own, const PrintedNumber* base) {
    if (own == nullptr || base == nullptr) return "-";
    return signed_cell(own->value - base->value, std::max(places(*own), places(*base)));
}

// "against 100% baseline", with the budget of the rows that the differences really refer to, where it is one.
std::string reference_title(const PublishedContext& context) {
    std::set<std::string> budgets;
    for (const Variant& variant : context.variants)
        budgets.insert(reference_of(context.variants, context.base_case, variant).axes.budget_text());
    return budgets.size() == 1 ? fmt::format("against {} baseline", *budgets.begin()) : "against baseline";
}

void add_average(const PublishedContext& context, const PublishedColumn& column, std::vector<Field>& fields) {
    const std::int64_t shots = shots_of(column.measures);
    const std::size_t tasks = tasks_of(context.sweep, shots).size();
    if (tasks == 0) return;
    const PrintedNumber* base = number_of(context.table.full_budget(context.base_case), column);
    const std::string arrow = column.better == "higher" ? " ↑" : " ↓";
    const std::string unit = column.unit + arrow;
    const auto add = [&fields](std::string title, bool published, std::function<Cell(const Variant&)> cell) {
        Column head;
        head.title = std::move(title);
        head.published = published;
        head.begins_block = fields.empty();
        fields.emplace_back(std::move(head), std::move(cell));
    };
    add(title_of(column, "measured", fmt::format("{}, {}", unit, counted(tasks, "task"))), false,
        [=](const Variant& variant) { return average_cell(variant, shots, tasks); });
    add(title_of(column, "(published)", fmt::format("{}, {}", unit, column.detail)), true,
        [=](const Variant& variant) { return published_cell(number_of(context, variant, column)); });
    add(title_of(column, reference_title(context), "measured, points"), false, [=](const Variant& variant) {
        return measured_difference(variant, reference_of(context.variants, context.base_case, variant), shots);
    });
    add(title_of(column, "against 100% baseline", "(published), points"), true,
        [=](const Variant& variant) { return published_difference(number_of(context, variant, column), base); });
}

std::string not_measured_here(const PublishedContext& context) {
    std::vector<std::string> titles;
    for (const PublishedColumn& column : context.table.columns)
        if (column.measures != Measures::train_time && tasks_of(context.sweep, shots_of(column.measures)).empty())
            titles.push_back(column.title);
    return fmt::format("{}", fmt::join(titles, ", "));
}

std::string rows_elsewhere(const PublishedContext& context) {
    std::vector<std::string> names;
    for (const PublishedRow& row : context.table.rows) {
        const bool here = std::any_of(context.variants.begin(), context.variants.end(), [&](const Variant& variant) {
            return context.table.find(variant.case_key, variant.axes.budget_fraction) == &row;
        });
        if (!here) names.push_back(fmt::format("{} at {:g}%", row.case_name, row.budget_fraction * 100));
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<Field> published_time_fields(const PublishedContext& context) {
    const PublishedColumn* column = column_of(context.table, Measures::train_time);
    if (column == nullptr) return {};
    const PrintedNumber* base = number_of(context.table.full_budget(context.base_case), *column);
    const auto cell = [=, table_column = *column](const Variant& variant) {
        const PrintedNumber* number = number_of(context, variant, table_column);
        Cell out = published_cell(number);
        if (number == nullptr) return out;
        out.text += table_column.unit;
        if (base != nullptr && base->value > 0) {
            out.aside = ratio(number->value / base->value);
            out.text += " " + out.aside;
        }
        return out;
    };
    Column head;
    head.title = title_of(*column, "(published)", column->detail);
    head.published = true;
    head.raw_unit = column->unit;
    return {Field(std::move(head), cell)};
}

std::vector<Field> average_fields(const PublishedContext& context) {
    std::vector<Field> fields;
    for (const Measures measures : {Measures::zero_shot_average, Measures::ten_shot_average})
        if (const PublishedColumn* column = column_of(context.table, measures)) add_average(context, *column, fields);
    return fields;
}

std::vector<std::string> published_notes(const PublishedContext& context) {
    const PublishedTable& table = context.table;
    std::vector<std::string> notes = {
        fmt::format("Published: {}. {} ({}). Every number marked (published) is theirs, at {}.", table.label,
                    table.paper, table.source, table.scale)};
    if (is_small_scale(context.sweep, context.scale))
        notes.push_back(
            "Published and measured values do not compare in absolute terms: model, data and tasks here "
            "are of proxy scale. What can be compared is the effect relative to the baseline at 100%: "
            "ratios and differences.");
    for (const Measures measures : {Measures::zero_shot_average, Measures::ten_shot_average}) {
        const PublishedColumn* column = column_of(table, measures);
        const std::set<std::string> tasks = tasks_of(context.sweep, shots_of(measures));
        if (column != nullptr && !tasks.empty())
            notes.push_back(fmt::format("{}, measured: unweighted mean of {} x 100: {}. The published one: {}.",
                                        column->title, counted(tasks.size(), "task"), fmt::join(tasks, ", "),
                                        column->detail));
    }
    if (const std::string titles = not_measured_here(context); !titles.empty())
        notes.push_back(fmt::format("Published, but not measured here: {}.", titles));
    if (const std::string rows = rows_elsewhere(context); !rows.empty())
        notes.push_back(fmt::format("Published rows without a case here: {}.", rows));
    return notes;
}

namespace {

using results_db::ScoreRow;

// The suite whose averages the papers' tables have.
const Suite& published_suite() {
    static const Suite& suite = project_suite("data_efficiency");
    return suite;
}

// A task that is none of the published ones counts by acc, or by acc_norm where it has nothing else.
int preference(const ScoreRow& row) {
    if (const SuiteTask* task = published_suite().find(row.task)) return row.measure == task->measure ? 2 : 0;
    if (row.measure == "acc") return 2;
    return row.measure == "acc_norm" ? 1 : 0;
}

}  // namespace

std::optional<SuiteAverage> suite_average(const std::vector<ScoreRow>& scores, std::int64_t shots) {
    std::map<std::string, const ScoreRow*> best;
    for (const ScoreRow& row : scores) {
        if (row.shots != shots || preference(row) == 0) continue;
        const ScoreRow*& kept = best[row.task];
        if (kept == nullptr || preference(row) > preference(*kept)) kept = &row;
    }
    if (best.empty()) return std::nullopt;
    SuiteAverage average;
    for (const auto& [task, row] : best) {
        average.percent += row->value * 100;
        average.tasks.push_back(task);
    }
    average.percent /= static_cast<double>(best.size());
    return average;
}

double round_significant(double value, int digits) {
    return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
}

std::string significant(double value, int digits) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    const std::string rounded = fmt::format("{:.{}e}", value, digits - 1);
    const int exponent = std::atoi(rounded.c_str() + rounded.find('e') + 1);
    return fmt::format("{:.{}f}", round_significant(value, digits), std::max(0, digits - 1 - exponent));
}

}  // namespace deft::reporting
