#include "reporting/views/json/status_json.h"

#include <cstdint>
#include <map>

#include "base/json.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/ordered_json.h"
#include "reporting/views/json/records_json.h"
#include "results_db/sweep_heads.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

OrderedJson head_json(const results_db::SweepHead& sweep) {
    return {{"sweep", sweep.name},
            {"spec_sha256", sweep.spec_sha256},
            {"name", results_db::full_name(sweep)},
            {"scale", sweep.scale},
            {"overrides", results_db::overrides_text(sweep)},
            {"created_ms", sweep.created_ms}};
}

OrderedJson stale_scores_json(const Trial& trial) {
    OrderedJson json = OrderedJson::array();
    for (const Score& score : trial.scores)
        if (!score.stale.empty()) json.push_back({{"id", stable_id(id_of(score))}, {"stale", score.stale}});
    return json;
}

OrderedJson unscored_json(const Trial& trial) {
    OrderedJson json = OrderedJson::array();
    for (const results_db::AskedScore& asked : trial.asked)
        if (!asked.is_scored) json.push_back({{"task", asked.task}, {"shots", asked.shots}, {"score_key", asked.key}});
    return json;
}

OrderedJson status_of(const Trial& trial) {
    const auto& point = trial.last_point;
    return {{"name", results_db::trial_name(trial)},
            {"recipe", trial.recipe},
            {"stage", trial.stage},
            {"axes", axes_json(trial)},
            {"seed", trial.seed},
            {"seeds", seeds_text(trial)},
            {"config_hash", trial.config_hash},
            {"state", trial.state},
            {"fail_class", trial.fail_class},
            {"error", trial.error},
            {"attempts", trial.attempts},
            {"steps", point ? OrderedJson(point->step) : OrderedJson()},
            {"planned_steps", trial.total_steps > 0 ? OrderedJson(trial.total_steps) : OrderedJson()},
            {"last_loss", point ? json_number(point->loss) : OrderedJson()},
            {"layer_tokens", point ? OrderedJson(point->layer_tokens) : OrderedJson()},
            {"asked_scores", trial.asked.size()},
            {"unscored", unscored_json(trial)},
            {"imported", trial.imported.has_value()},
            {"merged", trial.is_merged()},
            {"newer_state", trial.newer_state},
            {"newer_hash", trial.newer_hash},
            {"stale", trial.stale},
            {"stale_scores", stale_scores_json(trial)},
            {"unchecked", trial.unchecked}};
}

}  // namespace

std::string render_status_json(const Results& sweep, const std::vector<results_db::SweepHead>& all) {
    OrderedJson json = {{"schema", "deft-status/1"}};
    json.update(head_json(sweep));
    std::map<std::string, std::int64_t> states;
    OrderedJson trials = OrderedJson::array(), others = OrderedJson::array();
    for (const auto* list : {&sweep.trials, &sweep.searched})
        for (const Trial& trial : *list) {
            ++states[trial.state];
            trials.push_back(status_of(trial));
        }
    for (const results_db::SweepHead& other : all)
        if (other.name == sweep.name && other.spec_sha256 != sweep.spec_sha256) others.push_back(head_json(other));
    json["command"] = sweep.command;
    json["states"] = states;
    json["trials"] = std::move(trials);
    json["others"] = std::move(others);
    return json_text(json);
}

}  // namespace deft::reporting
