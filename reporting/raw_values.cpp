#include "reporting/raw_values.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "reporting/sweep_text.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

using results_db::ScoreRow;
using results_db::SweepResults;
using results_db::TrialRow;

std::string title_of(const ScoreRow& row) {
    std::string title = row.task + "\n" + row.metric;
    if (row.shots > 0) title += fmt::format("\n{}-shot", row.shots);
    if (!row.split.empty()) title += "\n" + row.split;
    return title;
}

Cell exact(double value) {
    return {fmt::format("{}", value), value};
}

OrderedJson scores_json(const TrialRow& trial) {
    OrderedJson scores = OrderedJson::array();
    for (const ScoreRow& row : trial.scores)
        scores.push_back({{"task", row.task},
                          {"metric", row.metric},
                          {"unit", row.unit},
                          {"better", row.better},
                          {"split", row.split},
                          {"shots", row.shots},
                          {"value", json_number(row.value)},
                          {"standard_error", json_number(row.standard_error)},
                          {"chance", json_number(row.chance)},
                          {"n", row.n},
                          {"step", row.step}});
    return scores;
}

OrderedJson trial_json(const TrialRow& trial) {
    OrderedJson json = {{"name", results_db::trial_name(trial)},
                        {"case", trial.case_key},
                        {"axes", OrderedJson::parse(trial.axes_json, nullptr, false)},
                        {"seed", trial.seed},
                        {"config_hash", trial.config_hash},
                        {"state", trial.state},
                        {"attempts", trial.attempts},
                        {"commit", trial.code.git_sha},
                        {"dirty", trial.code.dirty},
                        {"host", trial.host.hostname},
                        {"dataset_sha256", trial.dataset_sha256}};
    if (json["axes"].is_discarded()) json["axes"] = trial.axes_json;
    if (trial.last_point) {
        json["steps"] = trial.last_point->step;
        json["input_tokens"] = trial.last_point->input_tokens;
        json["unique_tokens"] = trial.last_point->unique_tokens;
        json["layer_tokens"] = trial.last_point->layer_tokens;
        json["flops"] = json_number(trial.last_point->flops);
        json["train_seconds"] = static_cast<double>(trial.last_point->wall_ms) / 1000;
    }
    if (trial.usd) json["usd"] = json_number(*trial.usd);
    json["scores"] = scores_json(trial);
    return json;
}

}  // namespace

Table raw_values_table(const SweepResults& sweep) {
    Table table;
    table.caption = "Every trial, as stored" + overrides_suffix(sweep);
    table.columns = {{"trial", Align::left}, {"state", Align::left}, {"steps"}, {"input\ntokens"},
                     {"unique\ntokens"},     {"layer-avg\ntokens"},  {"FLOPs"}, {"train\nseconds"}};
    const std::size_t counts = table.columns.size();  // and the scores behind them
    std::set<std::string> titles;
    for (const TrialRow& trial : sweep.trials)
        for (const ScoreRow& row : trial.scores) titles.insert(title_of(row));
    for (const std::string& title : titles) table.columns.push_back({title});
    for (const TrialRow& trial : sweep.trials) {
        std::vector<Cell> row = {Cell(results_db::trial_name(trial)), trial.state};
        if (const auto& last = trial.last_point) {
            for (const std::int64_t count : {last->step, last->input_tokens, last->unique_tokens, last->layer_tokens})
                row.push_back({fmt::format("{}", count), static_cast<double>(count)});
            row.push_back(exact(last->flops));
            row.push_back(exact(static_cast<double>(last->wall_ms) / 1000));
        }
        row.resize(counts, Cell("-"));
        std::map<std::string, Cell> scores;
        for (const ScoreRow& score : trial.scores) scores[title_of(score)] = exact(score.value);
        for (const std::string& title : titles) row.push_back(scores.contains(title) ? scores.at(title) : Cell("-"));
        table.rows.push_back(std::move(row));
    }
    return table;
}

OrderedJson raw_values_json(const SweepResults& sweep) {
    OrderedJson trials = OrderedJson::array();
    for (const TrialRow& trial : sweep.trials) trials.push_back(trial_json(trial));
    return trials;
}

}  // namespace deft::reporting
