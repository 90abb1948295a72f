#include "reporting/analysis/trace/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/median.h"
#include "base/text.h"
#include "reporting/analysis/comparison/stages.h"
#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/analysis/results/configuration_diff.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/analysis/trace/rests_on.h"
#include "reporting/analysis/trace/traced_row.h"
#include "reporting/numbers.h"
#include "results_db/sweep_heads.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

const StageResults& stage_of(const std::vector<StageResults>& stages, const std::string& name) {
    for (const StageResults& stage : stages)
        if (stage.name == name) return stage;
    return stages.front();
}

// A column's position in the table; nothing where nothing has filled it yet.
std::optional<std::size_t> place_of(const TracedColumn& column, const Table& table) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const Column& shown = table.columns[i];
        if (shown.published) continue;
        if (!column.title.empty() ? shown.title == column.title
                                  : column.names.size() > 1 && shown.title.starts_with(column.names[1] + "\nmeasured"))
            return i;
    }
    return std::nullopt;
}

// The paper's printed value, in the column on its right.
std::string published_text(const Table& table, const std::vector<Cell>& row, std::size_t place,
                           const SweepAbout& about) {
    if (place + 1 >= row.size() || !table.columns[place + 1].published || row[place + 1].published.empty()) return {};
    return fmt::format("{} ({}, {})", row[place + 1].text, about.published->label, about.published->source);
}

std::string how_text(const Row& row, const TracedColumn& column, std::size_t values, std::size_t units) {
    if (values == 0) return {};
    std::string text = values == 1
                           ? "one seed"
                           : fmt::format("{} of {}", column.is_median ? "median" : "mean", counted(units, "seed"));
    if (units < values)
        text += fmt::format(", each first the mean of the seeds of later stages that nest in it ({} trials)", values);
    if (units > 1) text += ", ± their sample standard deviation";
    if (values < row.trials.size()) text += fmt::format("; {} of {} trials have a value", values, row.trials.size());
    if (column.tasks.size() > 1)
        text += fmt::format("; of each trial the unweighted mean of {} x 100", counted(column.tasks.size(), "task"));
    return text;
}

bool is_of(const TaskAsked& task, const results_db::AskedScore& asked) {
    return task.task == asked.task && task.shots == asked.shots;
}

// Why a trial that has finished has no value.
std::string unscored_text(const Trial& trial, const TracedColumn& column) {
    if (const auto shapes = slot_shapes(trial); column.of_one_slot && shapes.size() > 1)
        return "it was trained on several workers, and a time or what follows from it is of one: " + to_text(shapes);
    if (column.tasks.empty())
        return trial.imported ? "the model is imported: nothing here measured its training" : "nothing recorded it";
    std::vector<std::string> waiting, unasked;
    for (const TaskAsked& task : column.tasks) {
        const auto asked =
            std::find_if(trial.asked.begin(), trial.asked.end(), [&](const auto& one) { return is_of(task, one); });
        if (asked == trial.asked.end())
            unasked.push_back(task.task);
        else if (!asked->is_scored)
            waiting.push_back(task.task);
    }
    if (!waiting.empty()) {
        std::string text = fmt::format("trained, and not yet evaluated on {}", fmt::join(waiting, ", "));
        if (!trial.scoring_rows.empty() && !trial.scoring_rows.back().fail_class.empty())
            text += fmt::format(" (the last one failed: {}: {})", trial.scoring_rows.back().fail_class,
                                first_line(trial.scoring_rows.back().error));
        return text;
    }
    return fmt::format("trained; the sweep does not ask it for {}",
                       unasked.empty() ? column.names.front() : fmt::format("{}", fmt::join(unasked, ", ")));
}

std::string waits_text(const Trial& trial, const TracedColumn& column) {
    if (trial.state == "ok") return unscored_text(trial, column);
    if (trial.state == "pending") return "it has not been started";
    if (trial.state == "leased" || trial.state == "running") return "it is running";
    std::string why = trial.state;
    if (!trial.fail_class.empty() && trial.fail_class != trial.state) why += ", " + trial.fail_class;
    if (!trial.error.empty()) why += ": " + first_line(trial.error);
    return why;
}

std::vector<TracedTrial> traced_trials(const Row& row, const TracedColumn& column) {
    std::vector<TracedTrial> trials;
    for (const Trial* trial : row.trials) trials.push_back({*trial, results_db::trial_name(*trial), {}, {}, {}});
    for (TracedTrial& one : trials) {
        if (one.trial.state == "ok") {
            one.value = column.value(one.trial);
            if (one.value) one.scores = column.scores(one.trial);
        }
        if (!one.value) one.waits_for = waits_text(one.trial, column);
    }
    return trials;
}

std::string root_option(const std::string& root) {
    return " --root " + shell_word(root);
}

// " --root DIR", or " --from FILE..." where the results are files.
std::string results_option(const TraceQuestion& question) {
    if (question.from.empty()) return root_option(question.root);
    std::string option = " --from";
    for (const std::string& file : question.from) option += " " + shell_word(file);
    return option;
}

void add_commands(const TraceQuestion& question, const std::string& selector, Trace& trace) {
    for (const TracedTrial& one : trace.trials) {
        trace.commands.push_back(
            {"everything about " + one.name,
             "./deft show " + shell_word(short_hash(one.trial.config_hash)) + results_option(question)});
        if (!one.trial.workdir.empty() && question.from.empty())
            trace.commands.push_back(
                {"what it printed",
                 "./deft logs " + shell_word(short_hash(one.trial.config_hash)) + root_option(question.root)});
    }
    if (!trace.waits_for.empty())
        trace.commands.push_back(
            {"fills it", fmt::format("./deft run --for-table {}{}", shell_word(selector), root_option(question.root))});
}

void add_repetition(const Row& row, const Results& sweep, const SweepAbout& about, const TraceQuestion& question,
                    Trace& trace) {
    const std::string run = repeat_command(row, about.points, question.options, shell_word(question.repeat_root));
    if (run.empty() || !trace.value) return;
    std::set<std::string> commits;
    for (const TracedTrial& one : trace.trials)
        if (one.value && !one.trial.code.git_sha.empty() && one.trial.code.git_sha != "unknown")
            commits.insert(one.trial.code.git_sha);
    if (commits.size() == 1)
        trace.repeat.push_back({"the commit of deft itself", "git checkout " + shell_word(*commits.begin())});
    trace.repeat.push_back({"train and score it from nothing", run});
    trace.repeat.push_back(
        {"the same cell of that",
         fmt::format("./deft trace {} {} {} --root {}", shell_word(sweep.name), shell_word(trace.row),
                     shell_word(trace.column), shell_word(question.repeat_root))});
}

}  // namespace

std::string exact_text(double value) {
    return fmt::format("{}", value);
}

Trace trace_cell(const Results& sweep, const SweepAbout& about, const TraceQuestion& question) {
    const std::vector<Row> everywhere = rows_of(sweep);
    const std::vector<StageResults> stages = stages_of(sweep);
    const std::string row_name = find_row(everywhere, question.row).name;
    const StageResults& stage = stage_of(stages, find_row(everywhere, question.row).stage);
    const std::vector<Row> rows = rows_of(stage.sweep);
    const auto at = static_cast<std::size_t>(
        std::find_if(rows.begin(), rows.end(), [&](const Row& one) { return one.name == row_name; }) - rows.begin());
    const Row& row = rows[at];
    const std::vector<TracedColumn> columns = traced_columns(stage.sweep, about);
    const TracedColumn& column = find_column(columns, question.column);
    const Table table = comparison_table(stage.sweep, about_stage(about, stage));

    Trace trace;
    trace.sweep = results_db::full_name(sweep);
    trace.row = row.name;
    trace.column = column.names.front();
    trace.unit = column.unit;
    trace.cell = "-";
    trace.flag = not_measured(row);
    trace.trials = traced_trials(row, column);
    bool has_value = false;  // the table's own rule: a resource that one seed lacks has no mean
    if (const auto place = place_of(column, table)) {
        const Cell& cell = table.rows[at][*place];
        trace.cell = cell.text;
        trace.stale = cell.stale;
        has_value = cell.value && !cell.stated;
        trace.published = published_text(table, table.rows[at], *place, about);
    }
    std::vector<std::pair<const Trial*, double>> values;
    for (const TracedTrial& one : trace.trials) {
        if (!one.waits_for.empty()) trace.waits_for.push_back(one.name + ": " + one.waits_for);
        if (one.value) values.emplace_back(&one.trial, *one.value);
    }
    const std::vector<double> units = unit_means(values);
    if (has_value && !units.empty()) trace.value = column.is_median ? median(units) : mean(units);
    if (has_value && units.size() > 1) trace.spread = standard_deviation(units);
    trace.how = how_text(row, column, values.size(), units.size());
    const Row& reference = reference_of(rows, baseline_recipe(rows, about.baseline, sweep.name), row);
    if (reference.name != row.name) {
        trace.baseline = reference.name;
        for (const ConfigurationDifference& difference :
             configuration_differences(reference.trials.front()->config_json, row.trials.front()->config_json))
            trace.differences.push_back(to_text(difference));
    }
    add_commands(question, trace.sweep, trace);
    add_repetition(row, sweep, about, question, trace);
    trace.rests_on = rests_on(trace.trials, column, !trace.repeat.empty());
    return trace;
}

}  // namespace deft::reporting
