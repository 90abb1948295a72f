#include <cmath>

#include "base/json.h"
#include "reporting/cost/cost_columns.h"
#include "reporting/origins.h"
#include "reporting/render/table_json.h"
#include "reporting/trace/trace.h"

namespace deft::reporting {

namespace {

using results_db::AttemptRow;
using results_db::ScoreRow;

// Its digits too, for readers whose numbers are not doubles.
OrderedJson value_json(const std::optional<double>& value) {
    if (!value) return nullptr;
    return {{"number", json_number(*value)}, {"digits", exact_text(*value)}};
}

OrderedJson time_json(std::int64_t ms) {
    return ms > 0 ? OrderedJson(ms) : OrderedJson();
}

OrderedJson code_json(const results_db::Code& code) {
    return {{"commit", code.git_sha},
            {"uncommitted_changes", code.dirty},
            {"diff_sha256", code.diff_sha256},
            {"program_sha256", code.binary_sha256}};
}

OrderedJson attempt_json(const AttemptRow& attempt) {
    return {{"device_seconds", attempt.seconds ? parts_json(attempt_parts(attempt)) : OrderedJson()},
            {"usd_per_device_hour", attempt.price ? json_number(attempt.price->usd_per_hour) : OrderedJson()},
            {"devices", attempt.shape.devices},
            {"trials_per_device", attempt.shape.trials_per_device},
            {"number", attempt.number},
            {"uid", attempt.uid},
            {"state", attempt.state},
            {"fail_class", attempt.fail_class},
            {"counts", attempt.counts},
            {"started_ms", time_json(attempt.started_ms)},
            {"ended_ms", time_json(attempt.ended_ms)},
            {"from_step", attempt.resume_step},
            {"host", attempt.host.hostname},
            {"cpu", attempt.host.cpu_model},
            {"device", attempt.shape.device},
            {"ranks", attempt.shape.ranks},
            {"code", code_json(attempt.code)},
            {"run_folder", attempt.workdir},
            {"log", attempt.workdir.empty() ? OrderedJson() : OrderedJson(attempt.workdir + "/log.txt")}};
}

OrderedJson attempts_json(const std::vector<AttemptRow>& attempts) {
    OrderedJson json = OrderedJson::array();
    for (const AttemptRow& attempt : attempts) json.push_back(attempt_json(attempt));
    return json;
}

OrderedJson score_json(const TracedScore& score) {
    const ScoreRow& row = score.row;
    return {{"task", row.task},
            {"measure", row.measure},
            {"split", row.split},
            {"shots", row.shots},
            {"documents", row.n},
            {"stored", value_json(row.value)},
            {"value", value_json(score.value)},
            {"unit", row.unit},
            {"task_version", row.task_version},
            {"score_key", row.score_key},
            {"step", row.step},
            {"model_sha256", row.model_sha256},
            {"commit", row.git_sha},
            {"attempt", row.attempt_uid}};
}

OrderedJson checkpoint_json(const std::optional<results_db::Checkpoint>& checkpoint) {
    if (!checkpoint) return nullptr;
    return {{"path", checkpoint->path}, {"step", checkpoint->step}, {"sha256", checkpoint->sha256}};
}

OrderedJson trial_json(const TracedTrial& one) {
    const results_db::TrialRow& trial = one.trial;
    OrderedJson scores = OrderedJson::array();
    for (const TracedScore& score : one.scores) scores.push_back(score_json(score));
    return {{"name", one.name},
            {"seed", trial.seed},
            {"state", trial.state},
            {"value", value_json(one.value)},
            {"waits_for", one.waits_for},
            {"config_hash", trial.config_hash},
            {"variant_hash", trial.variant_hash},
            {"scores", std::move(scores)},
            {"code", code_json(trial.code)},
            {"host", trial.host.hostname},
            {"cpu", trial.host.cpu_model},
            {"dataset", trial.dataset_name},
            {"dataset_sha256", trial.dataset_sha256},
            {"checkpoint", checkpoint_json(trial.result)},
            {"run_folder", trial.workdir},
            {"attempts", attempts_json(trial.attempt_rows)},
            {"scorings", attempts_json(trial.scoring_rows)},
            {"configuration", OrderedJson::parse(trial.config_json, nullptr, false)}};
}

OrderedJson commands_json(const std::vector<TracedCommand>& commands) {
    OrderedJson json = OrderedJson::array();
    for (const TracedCommand& command : commands)
        json.push_back({{"what", command.what}, {"line", command.line}, {"argv", shell_words(command.line)}});
    return json;
}

}  // namespace

std::string render_trace_json(const Trace& trace) {
    OrderedJson trials = OrderedJson::array();
    for (const TracedTrial& one : trace.trials) {
        trials.push_back(trial_json(one));
        if (trials.back().at("configuration").is_discarded()) trials.back()["configuration"] = nullptr;
    }
    return json_text({{"schema", "deft-trace/1"},
                      {"sweep", trace.sweep},
                      {"row", trace.row},
                      {"column", trace.column},
                      {"unit", trace.unit},
                      {"cell", trace.cell},
                      {"value", value_json(trace.value)},
                      {"spread", value_json(trace.spread)},
                      {"published", trace.published},
                      {"flag", trace.flag},
                      {"stale", trace.stale},
                      {"how", trace.how},
                      {"trials", std::move(trials)},
                      {"baseline", trace.baseline},
                      {"differences", trace.differences},
                      {"commands", commands_json(trace.commands)},
                      {"repeat", commands_json(trace.repeat)},
                      {"rests_on", trace.rests_on},
                      {"waits_for", trace.waits_for}});
}

}  // namespace deft::reporting
