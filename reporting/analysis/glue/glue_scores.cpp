#include "reporting/analysis/glue/glue_scores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/json.h"
#include "base/score_key.h"
#include "base/suites.h"
#include "base/text.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/scores/labelled_notes.h"
#include "reporting/analysis/scores/measured.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

constexpr std::size_t kToldLacks = 3, kToldModels = 6;

// As the published table calls a task's records; a task with one split has one column whatever that is called.
struct PublishedGlueColumn {
    const char* name;
    const char* task;
    const char* split;
};

constexpr std::array<PublishedGlueColumn, 9> kColumns = {{{"MNLI-m", "glue_mnli", "matched"},
                                                          {"MNLI-mm", "glue_mnli", "mismatched"},
                                                          {"QQP", "glue_qqp", ""},
                                                          {"QNLI", "glue_qnli", ""},
                                                          {"SST-2", "glue_sst2", ""},
                                                          {"CoLA", "glue_cola", ""},
                                                          {"STS-B", "glue_stsb", ""},
                                                          {"MRPC", "glue_mrpc", ""},
                                                          {"RTE", "glue_rte", ""}}};

std::string column_of_split(const std::string& task, const std::string& split) {
    for (const PublishedGlueColumn& column : kColumns)
        if (task == column.task && (*column.split == '\0' || split == column.split)) return column.name;
    return {};
}

// A trial that fine-tunes on a task of GLUE, as its configuration says.
struct FineTuning {
    const Trial* trial = nullptr;
    std::string model, task, measure;  // model: the configuration hash of the trial that it starts from
    double rate = 0;
};

std::vector<FineTuning> fine_tunings_of(const Results& sweep) {
    const Suite& suite = project_suite(kGlueSuite);
    std::vector<FineTuning> all;
    for (const Trial& trial : sweep.trials) {
        const Settings& settings = trial.settings;
        if (settings.samples != "labelled" || settings.start_trial.empty() || !settings.learning_rate) continue;
        if (const SuiteTask* task = suite.find(settings.corpus))
            all.push_back({&trial, settings.start_trial, task->name, task->measure, *settings.learning_rate});
    }
    return all;
}

// The task's measure on a split, or on all of a task's records together.
std::vector<const Score*> scores_of_task(const FineTuning& tuned) {
    std::vector<const Score*> rows;
    for (const Score& row : tuned.trial->scores)
        if (row.task == kValidationTask && row.measure == tuned.measure) rows.push_back(&row);
    return rows;
}

GlueRun run_of(const FineTuning& tuned) {
    GlueRun run{tuned.task, tuned.rate, tuned.trial->seed, 0, {}};
    if (tuned.trial->state != "ok") {
        run.lack = "is " + tuned.trial->state;
        if (!tuned.trial->fail_class.empty()) run.lack += fmt::format(" ({})", tuned.trial->fail_class);
        return run;
    }
    if (const std::string failure = measured_rule(*tuned.trial).failure; !failure.empty()) {
        run.lack = "does not count as measured: " + failure;
        return run;
    }
    const std::vector<const Score*> rows = scores_of_task(tuned);
    for (const Score* row : rows) {
        if (std::isnan(row->value)) run.lack = why_no_value(row->measure);
        const std::string column = column_of_split(tuned.task, row->split);
        if (row->split != kAllSplits && !column.empty()) run.columns.emplace_back(column, row->value * 100);
        if (row->split == kAllSplits || rows.size() == 1) run.chosen_by = row->value * 100;
    }
    if (rows.empty()) run.lack = "is not scored";
    return run;
}

// In the order of the published columns, each with those that any of the runs has.
std::vector<GlueTask> tasks_of_runs(const std::vector<GlueRun>& runs) {
    std::set<std::string> scored, tuned;
    for (const GlueRun& run : runs) {
        tuned.insert(run.task);
        for (const auto& [column, value] : run.columns) scored.insert(column);
    }
    std::vector<GlueTask> tasks;
    for (const PublishedGlueColumn& column : kColumns) {
        if (!tuned.contains(column.task)) continue;
        if (tasks.empty() || tasks.back().name != column.task) tasks.push_back({column.task, {}});
        if (scored.contains(column.name)) tasks.back().columns.emplace_back(column.name);
    }
    return tasks;
}

// Whether the rate that counts is the lowest or the highest of several, of which all have a value.
bool is_at_end(const GlueResult& result) {
    if (!result.chosen || result.rates.size() < 2) return false;
    if (std::any_of(result.rates.begin(), result.rates.end(), [](const GlueAtRate& at) { return !at.average; }))
        return false;
    const auto [lowest, highest] =
        std::minmax_element(result.rates.begin(), result.rates.end(),
                            [](const GlueAtRate& a, const GlueAtRate& b) { return a.rate < b.rate; });
    const double chosen = result.rates[*result.chosen].rate;
    return chosen == lowest->rate || chosen == highest->rate;
}

std::vector<std::string> columns_of_tasks(const std::vector<GlueTask>& tasks) {
    std::vector<std::string> columns;
    for (const GlueTask& task : tasks) columns.insert(columns.end(), task.columns.begin(), task.columns.end());
    return columns;
}

// Values at the rate that counts, or where none does, at all rates.
std::string stale_of(const std::vector<const FineTuning*>& tuned, const GlueResult& result) {
    std::string stale;
    for (const FineTuning* one : tuned) {
        if (result.chosen && one->rate != result.rates[*result.chosen].rate) continue;
        add_reasons(stale, one->trial->stale);
        for (const Score* row : scores_of_task(*one)) add_reasons(stale, row->stale);
    }
    return stale;
}

}  // namespace

std::vector<std::string> glue_columns() {
    std::vector<std::string> names;
    for (const PublishedGlueColumn& column : kColumns) names.emplace_back(column.name);
    return names;
}

GlueScores glue_scores(const Results& sweep) {
    const std::vector<FineTuning> all = fine_tunings_of(sweep);
    GlueScores scores;
    std::vector<GlueRun> runs;
    std::map<std::string, std::vector<std::size_t>> by_model;
    for (std::size_t i = 0; i < all.size(); ++i) {
        runs.push_back(run_of(all[i]));
        by_model[all[i].model].push_back(i);
    }
    if (runs.empty()) return scores;
    scores.tasks = tasks_of_runs(runs);
    const std::vector<std::string> here = columns_of_tasks(scores.tasks);
    for (const std::string& column : glue_columns())
        if (std::find(here.begin(), here.end(), column) == here.end()) scores.not_here.push_back(column);
    for (const Trial& trial : sweep.trials) {
        const auto own = by_model.find(trial.config_hash);
        if (own == by_model.end()) continue;
        std::vector<GlueRun> of_model;
        std::vector<const FineTuning*> tuned;
        for (const std::size_t i : own->second) {
            of_model.push_back(runs[i]);
            tuned.push_back(&all[i]);
        }
        GlueResult result = glue_protocol(scores.tasks, of_model);
        std::string stale = stale_of(tuned, result);
        scores.models.push_back({&trial, std::move(result), std::move(stale)});
    }
    return scores;
}

std::string lacks_text(const GlueResult& result) {
    if (result.chosen) return {};
    std::vector<std::string> lacks;
    for (const GlueAtRate& at : result.rates) lacks.insert(lacks.end(), at.lacks.begin(), at.lacks.end());
    return first_sentences(lacks, kToldLacks);
}

bool only_fine_tunes(const Results& sweep) {
    return !sweep.trials.empty() && fine_tunings_of(sweep).size() == sweep.trials.size();
}

void add_fine_tuned(Results& sweep) {
    const GlueScores scores = glue_scores(sweep);
    std::map<const Trial*, FineTuned> of_trials;
    for (const GlueOfModel& model : scores.models) {
        FineTuned& tuned = of_trials[model.model];
        tuned = {kGlueSuite, {}, lacks_text(model.result), columns_of_tasks(scores.tasks), model.stale};
        if (model.result.chosen) tuned.average = model.result.rates[*model.result.chosen].average;
    }
    for (Trial& trial : sweep.trials)
        if (const auto found = of_trials.find(&trial); found != of_trials.end()) trial.fine_tuned = found->second;
}

std::vector<std::string> glue_notes(const GlueScores& scores) {
    if (scores.models.empty()) return {};
    std::vector<std::string> notes = {
        fmt::format("GLUE average: mean of {}. Of each task the best epoch of every fine-tuning seed and the upper "
                    "median over the seeds, at one rate for all tasks, that of the best average; rounded to two "
                    "decimals before and after. ± there: mean of the columns' sample standard deviations over the "
                    "seeds. Epochs and rate are chosen by the records that are scored, which is optimistic.",
                    fmt::join(columns_of_tasks(scores.tasks), ", "))};
    if (!scores.not_here.empty())
        notes.push_back(
            fmt::format("Not in the GLUE average, for no trial scored it: {}.", fmt::join(scores.not_here, ", ")));
    std::size_t named = 0, left = 0;
    for (const GlueOfModel& model : scores.models) {
        const std::string lacks = lacks_text(model.result);
        if (lacks.empty()) continue;
        if (named++ < kToldModels)
            notes.push_back(fmt::format("No GLUE average of {}: {}.", results_db::trial_name(*model.model), lacks));
        else
            ++left;
    }
    if (left > 0) notes.push_back(fmt::format("No GLUE average of {} either.", counted(left, "more model")));
    const auto at_end = std::count_if(scores.models.begin(), scores.models.end(),
                                      [](const GlueOfModel& model) { return is_at_end(model.result); });
    if (at_end > 0)
        notes.push_back(
            fmt::format("The rate that counts is at the end of those tried, for {} of {}: one outside may be better.",
                        at_end, counted(scores.models.size(), "model")));
    return notes;
}

}  // namespace deft::reporting
