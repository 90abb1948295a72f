#include "sweeps/driver/keep_stale.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/json.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/text.h"
#include "results_db/trial_name.h"

namespace deft::sweeps {

namespace {

using results_db::AskedScore;
using results_db::StoredTrial;

constexpr const char* kNever = "never";
constexpr std::size_t kMostNames = 6;

bool is_any_of(const std::string& stale, const RerunIf& rerun_if) {
    const std::set<std::string> kinds = reporting::kinds_of(stale);
    return (rerun_if.code && kinds.contains(reporting::kByCode)) ||
           (rerun_if.data && kinds.contains(reporting::kByData)) ||
           (rerun_if.eval && kinds.contains(reporting::kByEval));
}

// Gives the trial the data, columns and model that the stored configuration names. False: it is not that trial even so.
bool take_back_inputs(Trial& trial, const std::vector<Trial>& trials, const StoredTrial& then, const Json& stored) {
    experiments::TrialConfig config = trial.config;
    try {
        const Json& data = stored.at("data");
        config.data.sha256 = data.at("sha256").get<std::string>();
        config.data.vocab = data.value("vocab", config.data.vocab);
        config.data.epoch_samples = data.value("epoch_samples", config.data.epoch_samples);
        if (config.start && !config.start->from.empty())
            config.start->sha256 = stored.at("start").at("sha256").get<std::string>();
        if (config.curriculum)
            for (experiments::CurriculumMetric& metric : config.curriculum->metrics)
                if (!metric.column.empty())
                    metric.column_sha256 =
                        stored.at("curriculum").at(metric.metric).at("column_sha256").get<std::string>();
    } catch (const Json::exception&) {
        return false;
    }
    if (trial.parent) {
        config.start->trial = trials[*trial.parent].config_hash;
        config.start->variant = trials[*trial.parent].variant_hash;
    }
    if (experiments::config_hash(config) != then.config_hash) return false;
    trial.config = config;
    trial.config_hash = then.config_hash;
    trial.variant_hash = experiments::variant_hash(config);
    return true;
}

// The names of trials by the words said about them, in the order in which they came.
class StaleNotes {
 public:
    void add(const std::string& words, const Trial& trial) {
        auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one.first == words; });
        if (found == all_.end()) found = all_.insert(found, {words, {}});
        found->second.push_back(reporting::visible(trial.name()));
    }

    std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        for (const auto& [words, names] : all_)
            lines.push_back(fmt::format("stale   {}: {}", first_of(names, kMostNames), words));
        return lines;
    }

 private:
    std::vector<std::pair<std::string, std::vector<std::string>>> all_;
};

// The scores of the sweep as it stood that are asked in another way now: of the same task and shots, under another key.
const AskedScore* former_score(const StoredTrial& then, const experiments::ScoreRequest& request) {
    const auto same = [&](const AskedScore& one) { return one.task == request.task && one.shots == request.shots; };
    if (std::any_of(then.asked.begin(), then.asked.end(),
                    [&](const AskedScore& one) { return one.key == request.key; }))
        return nullptr;
    const auto found = std::find_if(then.asked.begin(), then.asked.end(), same);
    return found == then.asked.end() || !found->is_scored ? nullptr : &*found;
}

void plan_scores(Trial& trial, const StoredTrial& then, const RerunIf& rerun_if, StaleNotes& notes) {
    for (experiments::ScoreRequest& request : trial.scores) {
        const AskedScore* former = former_score(then, request);
        if (former == nullptr) continue;
        if (rerun_if.eval) {
            notes.add(fmt::format("{} is scored again, as the task, its records or its evaluation have changed",
                                  request.task),
                      trial);
        } else {
            request.key = former->key;
            notes.add(
                fmt::format("the score of {} is kept, though the task, its records or its evaluation have changed",
                            request.task),
                trial);
        }
    }
}

}  // namespace

RerunIf parse_rerun_if(const std::string& text) {
    RerunIf rerun_if{false, false, false};
    if (text == kNever) return rerun_if;
    std::istringstream in(text);
    for (std::string kind; std::getline(in, kind, ',');) {
        if (kind == reporting::kByCode)
            rerun_if.code = true;
        else if (kind == reporting::kByData)
            rerun_if.data = true;
        else if (kind == reporting::kByEval)
            rerun_if.eval = true;
        else
            throw Error(ErrorKind::usage, fmt::format("--rerun-if {}: '{}' is none of code, data, eval", text, kind),
                        "name some of them, as in code,data, or never", "nothing was run");
    }
    if (rerun_if == RerunIf{false, false, false})
        throw Error(ErrorKind::usage, "--rerun-if names nothing", "name some of code, data, eval, or never",
                    "nothing was run");
    return rerun_if;
}

PlannedReruns plan_reruns(std::vector<Trial> trials, const RerunFacts& facts, const RerunIf& rerun_if) {
    std::map<std::string, const StoredTrial*> trained;  // by the place's name
    for (const StoredTrial& trial : facts.measured.trials)
        if (trial.state == "ok") trained.emplace(results_db::trial_name(trial), &trial);
    StaleNotes asked, others;
    std::vector<std::string> stale_of(trials.size());
    for (std::size_t i = 0; i < trials.size(); ++i) {
        Trial& trial = trials[i];
        if (trial.is_left) continue;  // by whoever made it
        StaleNotes& notes = facts.selected[i] != 0 ? asked : others;
        const auto found = trained.find(trial.name());
        if (found == trained.end()) {
            // Its predecessor is not retrained.
            trial.is_left = trial.parent && trials[*trial.parent].is_left;
            continue;
        }
        const StoredTrial& then = *found->second;
        if (then.config_hash != trial.config_hash && facts.is_trained(trial.config_hash)) continue;
        std::string& stale = stale_of[i];
        Json stored;
        if (then.config_hash != trial.config_hash) {
            stored = facts.config_of(then.config_hash);
            stale = reporting::training_differences(stored, experiments::to_json(trial.config));
            if (trial.parent) reporting::add_reasons(stale, stale_of[*trial.parent]);
        }
        if (!stale.empty()) {
            if (is_any_of(stale, rerun_if)) {
                notes.add(fmt::format("trained again, for {} (--rerun-if never keeps the result)", stale), trial);
                continue;
            }
            notes.add(fmt::format("the result is kept, though stale by {}", stale), trial);
            // Another result epoch cannot be computed with by this program, not even scored.
            trial.is_left = !take_back_inputs(trial, trials, then, stored);
        }
        if (then.config_hash == trial.config_hash) plan_scores(trial, then, rerun_if, notes);
    }
    return {std::move(trials), asked.lines()};
}

}  // namespace deft::sweeps
