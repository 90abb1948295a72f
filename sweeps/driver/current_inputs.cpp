#include "sweeps/driver/current_inputs.h"

#include <algorithm>
#include <tuple>

#include "base/json.h"
#include "base/score_key.h"
#include "experiments/inputs_now.h"
#include "experiments/result_epoch.h"
#include "reporting/analysis/load_results.h"
#include "results_db/evidence/local_paths.h"
#include "sweeps/driver/root.h"

namespace deft::sweeps {

namespace {

using reporting::InputNow;
using reporting::TaskNow;
using results_db::ScoreRow;
using results_db::StoredTrial;

// Most trials of a sweep share data and tasks, which are looked at once.
class Lookup {
 public:
    explicit Lookup(const std::filesystem::path& root) : seen_(data_folder(root) / "seen_files.json") {}

    std::map<std::string, InputNow> inputs_of(const Json& config) {
        const auto part = [&](const char* key) { return config.is_object() ? config.value(key, Json()) : Json(); };
        const std::string key = canonical_json({part("data"), part("start"), part("curriculum"), part("local")});
        const auto [found, fresh] = inputs_.try_emplace(key);
        if (fresh)
            for (const auto& [keys, input] : experiments::inputs_now(config, seen_))
                found->second[keys] = {input.sha256, input.unknown};
        return found->second;
    }

    const experiments::TaskNow& task(const std::string& name, std::int64_t shots, const std::string& base_folder) {
        const auto [found, fresh] = tasks_.try_emplace({name, shots, base_folder});
        if (fresh) found->second = experiments::task_now(name, shots, base_folder);
        return found->second;
    }

    void save() const { seen_.save(); }

 private:
    experiments::SeenFiles seen_;
    std::map<std::string, std::map<std::string, InputNow>> inputs_;
    std::map<std::tuple<std::string, std::int64_t, std::string>, experiments::TaskNow> tasks_;
};

// Evidence merged from a text has no absolute folder; an absolute path in it, or one that leads upwards, is foreign.
bool leads_outside(const std::string& path, const std::string& base_folder) {
    return std::filesystem::path(base_folder).is_relative() && !results_db::stays_below(path);
}

// The task of a score as it is now. A task file of the user's is found by the name that [eval] gives it, which was
// planned with the score's key, or with another since then.
TaskNow task_of(Lookup& lookup, const StoredTrial& trial, const ScoreRow& score, const std::string& base_folder) {
    const auto same_key = [&](const results_db::AskedScore& one) { return one.key == score.score_key; };
    const auto same_task = [&](const results_db::AskedScore& one) {
        return one.shots == score.shots && one.task != kValidationTask && !leads_outside(one.task, base_folder) &&
               lookup.task(one.task, one.shots, base_folder).name == score.task;
    };
    auto found = std::find_if(trial.asked.begin(), trial.asked.end(), same_key);
    if (found == trial.asked.end()) found = std::find_if(trial.asked.begin(), trial.asked.end(), same_task);
    const std::string& name = found == trial.asked.end() ? score.task : found->task;
    if (leads_outside(name, base_folder) || (found == trial.asked.end() && !results_db::stays_below(name)))
        return {{}, {}, "its file is one of another machine"};
    const experiments::TaskNow& now = lookup.task(name, score.shots, base_folder);
    return {now.definition_sha256, now.task_sha256, now.unknown};
}

}  // namespace

reporting::Current current_inputs(const results_db::StoredSweep& sweep, const std::filesystem::path& root) {
    reporting::Current now;
    now.result_epoch = experiments::kResultEpoch;
    now.scoring_version = kScoringVersion;
    Lookup lookup(root);
    for (const StoredTrial& trial : sweep.trials) {
        if (trial.state != "ok") continue;
        const reporting::Settings settings = reporting::settings_of(trial);
        reporting::TrialNow& own = now.trials[trial.config_hash];
        if (leads_outside(settings.corpus, settings.base_folder))
            own.inputs["data.sha256"].unknown = "its corpus is a file of another machine";
        else
            own.inputs = lookup.inputs_of(*settings.json);
        for (const ScoreRow& score : trial.scores)
            if (score.task != kValidationTask && !score.score_key.empty() && !own.tasks.contains(score.score_key))
                own.tasks[score.score_key] = task_of(lookup, trial, score, settings.base_folder);
    }
    lookup.save();
    return now;
}

}  // namespace deft::sweeps
