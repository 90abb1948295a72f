#include "reporting/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

struct StageCost {
    std::size_t trainings = 0;
    double seconds = 0, device_seconds = 0, usd = 0;
    bool is_priced = true;
};

StageCost cost_of(const results_db::SweepResults& sweep) {
    StageCost cost;
    std::set<std::string> seen;
    for (const results_db::TrialRow& trial : sweep.trials) {
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

}  // namespace

std::vector<StageResults> stages_of(const results_db::SweepResults& sweep) {
    std::vector<const results_db::TrialRow*> trials;
    for (const results_db::TrialRow& trial : sweep.trials) trials.push_back(&trial);
    std::stable_sort(trials.begin(), trials.end(),
                     [](const auto* a, const auto* b) { return a->ordinal < b->ordinal; });
    std::vector<StageResults> stages;
    for (const results_db::TrialRow* trial : trials) {
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
    own.title += fmt::format("{}stage {}", own.title.empty() ? "" : ", ", stage.name);
    return own;
}

std::string stage_costs_note(const results_db::SweepResults& sweep) {
    const std::vector<StageResults> stages = stages_of(sweep);
    if (stages.front().name.empty()) return {};
    std::vector<std::string> texts;
    for (const StageResults& stage : stages) texts.push_back(cost_text(stage.name, cost_of(stage.sweep)));
    return fmt::format("Stages: {}; {}.", fmt::join(texts, "; "), cost_text("in all", cost_of(sweep)));
}

}  // namespace deft::reporting
