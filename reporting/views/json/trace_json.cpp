#include <cmath>

#include "base/json.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/analysis/trace/trace.h"
#include "reporting/ordered_json.h"
#include "reporting/views/json/records_json.h"

namespace deft::reporting {

namespace {

// With the value in the unit of the cell beside the stored one.
OrderedJson traced_score_json(const TracedScore& score) {
    OrderedJson json = score_json(score.row);
    json["stored"] = value_json(score.row.value);
    json["value"] = value_json(score.value);
    return json;
}

OrderedJson trial_json(const TracedTrial& one) {
    const Trial& trial = one.trial;
    OrderedJson scores = OrderedJson::array();
    for (const TracedScore& score : one.scores) scores.push_back(traced_score_json(score));
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
