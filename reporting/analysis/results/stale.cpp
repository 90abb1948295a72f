#include "reporting/analysis/results/stale.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace deft::reporting {

namespace {

constexpr const char* kBetween = "; ";

std::string reason(const char* kind, const std::string& words) {
    return fmt::format("{}: {}", kind, words);
}

std::vector<std::string> split(const std::string& reasons) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < reasons.size();) {
        const std::size_t end = std::min(reasons.find(kBetween, at), reasons.size());
        all.push_back(reasons.substr(at, end - at));
        at = end + 2;
    }
    return all;
}

std::string name_of_input(const std::string& keys) {
    if (keys == "data.sha256") return "the training data";
    if (keys == "start.sha256") return "the model of [start]";
    const std::size_t first = keys.find('.') + 1, last = keys.rfind('.');
    return fmt::format("the column of {}", keys.substr(first, last - first));
}

std::string epoch_reason(std::optional<std::int64_t> then, std::int64_t now) {
    if (!then || *then == now) return {};
    return reason(kByCode, fmt::format("result epoch {}, now {}", *then, now));
}

std::string input_reason(const std::string& keys, const Json& then, const std::string& now) {
    if (!then.is_string() || then == now) return {};
    return reason(kByData, fmt::format("{} has changed (sha256 {}, now {})", name_of_input(keys),
                                       short_hash(then.get<std::string>()), short_hash(now)));
}

void mark_training(Trial& trial, const Current& now, const TrialNow& own) {
    const Settings& settings = trial.settings;
    add_reasons(trial.stale, epoch_reason(settings.result_epoch, now.result_epoch));
    if (!settings.result_epoch) add_reasons(trial.unchecked, "its result epoch is not stored");
    for (const auto& [keys, input] : own.inputs) {
        if (!input.unknown.empty())
            add_reasons(trial.unchecked, fmt::format("{}: {}", name_of_input(keys), input.unknown));
        else
            add_reasons(trial.stale, input_reason(keys, value_at(*settings.json, keys), input.sha256));
    }
}

void mark_score(Score& score, const Current& now, const TrialNow& own) {
    if (score.scoring_version == 0) {
        score.unchecked = "an older program scored it together with the training";
        return;
    }
    if (score.scoring_version != now.scoring_version)
        add_reasons(score.stale, reason(kByEval, fmt::format("evaluation version {}, now {}", score.scoring_version,
                                                             now.scoring_version)));
    const auto found = own.tasks.find(score.score_key);
    if (found == own.tasks.end()) return;
    const TaskNow& task = found->second;
    if (!task.unknown.empty())
        score.unchecked = task.unknown;
    else if (task.task_sha256 == score.task_sha256)
        return;
    else if (score.definition_sha256.empty())
        add_reasons(score.stale, reason(kByEval, "the task's file or its records have changed"));
    else if (score.definition_sha256 != task.definition_sha256)
        add_reasons(score.stale, reason(kByEval, "the task's file has changed"));
    else
        add_reasons(score.stale, reason(kByEval, "the task's records have changed"));
}

// Stages nest, so that each round passes reasons on by one.
void pass_to_later_stages(Results& sweep) {
    std::map<std::string, std::string> stale_of;  // by configuration hash
    for (bool found = true; found;) {
        found = false;
        for (const Trial& trial : sweep.trials) stale_of[trial.config_hash] = trial.stale;
        for (Trial& trial : sweep.trials) {
            if (trial.settings.start_trial.empty()) continue;
            const std::string before = trial.stale;
            if (const auto origin = stale_of.find(trial.settings.start_trial); origin != stale_of.end())
                add_reasons(trial.stale, origin->second);
            found = found || trial.stale != before;
        }
    }
}

}  // namespace

std::set<std::string> kinds_of(const std::string& stale) {
    std::set<std::string> kinds;
    for (const std::string& one : split(stale)) kinds.insert(one.substr(0, one.find(':')));
    return kinds;
}

void add_reasons(std::string& to, const std::string& stale) {
    std::vector<std::string> all = split(to);
    for (const std::string& one : split(stale))
        if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
    to = fmt::format("{}", fmt::join(all, kBetween));
}

std::string with_reasons(std::string stale, const std::string& more) {
    add_reasons(stale, more);
    return stale;
}

std::string training_differences(const Json& then, const Json& now) {
    std::string stale;
    const std::optional<std::int64_t> epoch = integer_at(now, "result_epoch");
    if (epoch) add_reasons(stale, epoch_reason(integer_at(then, "result_epoch"), *epoch));
    std::vector<std::string> inputs = {"data.sha256", "start.sha256"};
    if (const Json metrics = value_at(now, "curriculum"); metrics.is_object())
        for (const auto& [metric, settings] : metrics.items())
            inputs.push_back(fmt::format("curriculum.{}.column_sha256", metric));
    for (const std::string& keys : inputs)
        if (const Json value = value_at(now, keys); value.is_string())
            add_reasons(stale, input_reason(keys, value_at(then, keys), value.get<std::string>()));
    return stale;
}

void mark_stale(Results& sweep, const Current& now) {
    for (Trial& trial : sweep.trials) {
        const auto own = now.trials.find(trial.config_hash);
        if (trial.state != "ok" || own == now.trials.end()) continue;
        mark_training(trial, now, own->second);
        for (Score& score : trial.scores) mark_score(score, now, own->second);
    }
    pass_to_later_stages(sweep);
}

std::string stale_training(const Row& row) {
    std::string stale;
    for (const Trial* trial : row.ok) add_reasons(stale, trial->stale);
    return stale;
}

}  // namespace deft::reporting
