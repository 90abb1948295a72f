#include "reporting/views/json/records_json.h"

#include <cmath>

#include "reporting/analysis/comparison/cost_columns.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/analysis/trace/trace.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

using results_db::AttemptRow;

OrderedJson value_json(const std::optional<double>& value) {
    if (!value) return nullptr;
    return {{"number", json_number(*value)}, {"digits", exact_text(*value)}};
}

namespace {

OrderedJson time_json(std::int64_t ms) {
    return ms > 0 ? OrderedJson(ms) : OrderedJson();
}

}  // namespace

OrderedJson code_json(const results_db::Code& code) {
    return {{"commit", code.git_sha},
            {"uncommitted_changes", code.dirty},
            {"diff_sha256", code.diff_sha256},
            {"program_sha256", code.binary_sha256}};
}

namespace {

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
            {"launcher", attempt.launcher},
            {"job", attempt.job},
            {"nodes", attempt.nodes},
            {"queue_seconds", attempt.queue_seconds ? json_number(*attempt.queue_seconds) : OrderedJson()},
            {"device", attempt.shape.device},
            {"ranks", attempt.shape.ranks},
            {"code", code_json(attempt.code)},
            {"run_folder", attempt.workdir},
            {"log", attempt.workdir.empty() ? OrderedJson() : OrderedJson(attempt.workdir + "/log.txt")}};
}

}  // namespace

OrderedJson attempts_json(const std::vector<AttemptRow>& attempts) {
    OrderedJson json = OrderedJson::array();
    for (const AttemptRow& attempt : attempts) json.push_back(attempt_json(attempt));
    return json;
}

OrderedJson checkpoint_json(const std::optional<results_db::Checkpoint>& checkpoint) {
    if (!checkpoint) return nullptr;
    return {{"path", checkpoint->path}, {"step", checkpoint->step}, {"sha256", checkpoint->sha256}};
}

OrderedJson score_json(const Score& row) {
    const ScoreId id = id_of(row);
    return {{"task", row.task},
            {"measure", row.measure},
            {"id", stable_id(id)},
            {"better", id.better},
            {"under_capacity", id.under_capacity},
            {"split", row.split},
            {"shots", row.shots},
            {"documents", row.n},
            {"value", value_json(row.value)},
            {"standard_error", json_number(row.standard_error)},
            {"chance", json_number(row.chance)},
            {"unit", row.unit},
            {"task_version", row.task_version},
            {"score_key", row.score_key},
            {"step", row.step},
            {"model_sha256", row.model_sha256},
            {"commit", row.git_sha},
            {"attempt", row.attempt_uid},
            {"stale", row.stale}};
}

namespace {

OrderedJson scores_json(const std::vector<Score>& rows) {
    OrderedJson json = OrderedJson::array();
    for (const Score& row : rows) json.push_back(score_json(row));
    return json;
}

OrderedJson counts_json(const Trial& trial) {
    OrderedJson json = {{"parameters", trial.parameters},
                        {"active_parameters", trial.active_parameters > 0 ? trial.active_parameters : trial.parameters},
                        {"planned_steps", trial.total_steps}};
    if (!trial.last_point) return json;
    const journal::TrainPoint& point = *trial.last_point;
    json.update({{"steps", point.step},
                 {"input_tokens", point.input_tokens},
                 {"unique_tokens", point.unique_tokens},
                 {"layer_tokens", point.layer_tokens},
                 {"flops", json_number(point.flops)},
                 {"train_seconds", json_number(trial.train_seconds)},
                 {"last_loss", value_json(point.loss)}});
    return json;
}

}  // namespace

OrderedJson axes_json(const results_db::TrialRow& trial) {
    OrderedJson axes = OrderedJson::parse(trial.axes_json, nullptr, false);
    return axes.is_object() ? axes : OrderedJson::object();
}

std::string seeds_text(const results_db::TrialRow& trial) {
    return trial.seeds.empty() ? std::to_string(trial.seed) : trial.seeds;
}

std::string render_trial_json(const Trial& trial) {
    const OrderedJson configuration = OrderedJson::parse(trial.config_json, nullptr, false);
    return json_text({{"schema", "deft-trial/1"},
                      {"name", results_db::trial_name(trial)},
                      {"recipe", trial.recipe},
                      {"stage", trial.stage},
                      {"axes", axes_json(trial)},
                      {"seed", trial.seed},
                      {"seeds", seeds_text(trial)},
                      {"state", trial.state},
                      {"fail_class", trial.fail_class},
                      {"error", trial.error},
                      {"config_hash", trial.config_hash},
                      {"variant_hash", trial.variant_hash},
                      {"stale", trial.stale},
                      {"counts", counts_json(trial)},
                      {"device_seconds", json_number(trial.device_seconds)},
                      {"usd", json_number(trial.usd)},
                      {"peak_memory_bytes", trial.peak_rss_bytes},
                      {"scores", scores_json(trial.scores)},
                      {"checkpoint", checkpoint_json(trial.result)},
                      {"attempts", attempts_json(trial.attempt_rows)},
                      {"scorings", attempts_json(trial.scoring_rows)},
                      {"code", code_json(trial.code)},
                      {"host", trial.host.hostname},
                      {"cpu", trial.host.cpu_model},
                      {"dataset", trial.dataset_name},
                      {"dataset_sha256", trial.dataset_sha256},
                      {"run_folder", trial.workdir},
                      {"configuration", configuration.is_discarded() ? OrderedJson() : configuration}});
}

}  // namespace deft::reporting
