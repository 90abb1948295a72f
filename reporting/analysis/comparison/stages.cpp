#include "reporting/analysis/comparison/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "reporting/analysis/glue/glue_scores.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

struct StageCost {
    std::size_t trainings = 0;
    double seconds = 0, device_seconds = 0, usd = 0;
    bool is_priced = true;
};

StageCost cost_of(const Results& sweep) {
    StageCost cost;
    std::set<std::string> seen;
    for (const Trial& trial : sweep.trials) {
        if (trial.state != "ok" || trial.imported || !seen.insert(trial.config_hash).second) continue;
        ++cost.trainings;
        cost.seconds += trial.train_seconds;
        cost.device_seconds += trial.device_seconds;
        cost.usd += trial.usd.value_or(0);
        cost.is_priced = cost.is_priced && trial.usd;
    }
    return cost;
}

std::string cost_text(const std::string& name, const StageCost& cost) {
    std::string text = fmt::format("{} {} in {} ({} of device time", name, counted(cost.trainings, "training"),
                                   short_seconds(cost.seconds), short_seconds(cost.device_seconds));
    if (cost.trainings > 0 && cost.is_priced) text += ", " + dollars(cost.usd);
    return text + ")";
}

using ColumnPlace = std::vector<Column>::iterator;

// Titles identify a table's columns.
ColumnPlace find_column(std::vector<Column>& columns, const Column& wanted) {
    return std::find_if(columns.begin(), columns.end(),
                        [&](const Column& column) { return column.title == wanted.title; });
}

// Puts the columns that `all` lacks right of those that they follow.
void add_columns(std::vector<Column>& all, const std::vector<Column>& columns) {
    ColumnPlace next = all.begin();
    for (const Column& column : columns) {
        const ColumnPlace found = find_column(all, column);
        next = (found == all.end() ? all.insert(next, column) : found) + 1;
    }
}

std::vector<const Trial*> by_ordinal(const Results& sweep) {
    std::vector<const Trial*> trials;
    for (const Trial& trial : sweep.trials) trials.push_back(&trial);
    std::stable_sort(trials.begin(), trials.end(),
                     [](const auto* a, const auto* b) { return a->ordinal < b->ordinal; });
    return trials;
}

}  // namespace

std::vector<std::string> stage_names(const Results& sweep) {
    std::vector<std::string> names;
    for (const Trial* trial : by_ordinal(sweep))
        if (std::find(names.begin(), names.end(), trial->stage) == names.end()) names.push_back(trial->stage);
    if (names.empty()) names.emplace_back();
    return names;
}

std::vector<StageResults> stages_of(const Results& sweep) {
    std::vector<StageResults> stages;
    for (const Trial* trial : by_ordinal(sweep)) {
        auto stage = std::find_if(stages.begin(), stages.end(), [&](const auto& s) { return s.name == trial->stage; });
        if (stage == stages.end())
            stage = stages.insert(stages.end(), {trial->stage, {static_cast<const results_db::SweepHead&>(sweep), {}}});
        stage->sweep.trials.push_back(*trial);
    }
    if (stages.empty()) stages.push_back({"", sweep});
    return stages;
}

SweepAbout about_stage(const SweepAbout& about, const StageResults& stage) {
    SweepAbout own = about;
    if (stage.name.empty()) return own;
    if (own.published &&
        (own.published->stage.empty() ? only_fine_tunes(stage.sweep) : own.published->stage != stage.name))
        own.published.reset();
    own.title += fmt::format("{}stage {}", own.title.empty() ? "" : ", ", stage.name);
    return own;
}

Table comparison_of_stages(const Results& sweep, const SweepAbout& about) {
    if (stage_names(sweep).front().empty()) return comparison_table(sweep, about);
    const std::vector<StageResults> stages = stages_of(sweep);
    Table all;
    std::vector<Table> tables;
    for (const StageResults& stage : stages) {
        tables.push_back(comparison_table(stage.sweep, about_stage(about, stage)));
        add_columns(all.columns, tables.back().columns);
        all.notes.insert(all.notes.end(), tables.back().notes.begin(), tables.back().notes.end());
    }
    for (std::size_t i = 0; i < stages.size(); ++i)
        for (std::vector<Cell>& row : tables[i].rows) {
            std::vector<Cell>& own = all.rows.emplace_back(all.columns.size(), Cell("-"));
            for (std::size_t column = 0; column < row.size(); ++column) {
                const ColumnPlace place = find_column(all.columns, tables[i].columns[column]);
                own[static_cast<std::size_t>(place - all.columns.begin())] = std::move(row[column]);
            }
            own.insert(own.begin(), Cell(stages[i].name));
        }
    all.columns.insert(all.columns.begin(), Column{"stage", Align::left});
    all.caption = about.title;
    all.key_columns = tables.front().key_columns + 1;
    return all;
}

std::string stage_costs_note(const Results& sweep) {
    if (stage_names(sweep).front().empty()) return {};
    std::vector<std::string> texts;
    for (const StageResults& stage : stages_of(sweep)) texts.push_back(cost_text(stage.name, cost_of(stage.sweep)));
    return fmt::format("Stages: {}; {}.", fmt::join(texts, "; "), cost_text("in all", cost_of(sweep)));
}

}  // namespace deft::reporting
