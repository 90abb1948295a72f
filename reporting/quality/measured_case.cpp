#include "reporting/quality/measured_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/suggestion.h"
#include "reporting/variants.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

using results_db::TrialRow;

// Stopped from outside: it says nothing of the recipe.
bool was_stopped(const TrialRow& trial) {
    const bool crashed = trial.state == "failed" || trial.state == "timeout";
    return !crashed || trial.fail_class == "user" || trial.fail_class == "preempt" || trial.fail_class == "stale";
}

void add_curve(MeasuredCase& result, const TrialRow& trial, const Measure& measure, LossCurve curve) {
    if (curve.size() < 2) return;
    const double value = late_loss(curve, curve.back().tokens).value_or(std::numeric_limits<double>::quiet_NaN());
    result.values[measure].push_back({trial.seed, trial.attempt_uid, value, std::move(curve)});
}

void add_scores(MeasuredCase& result, const TrialRow& trial) {
    std::map<Measure, double> scores;  // the newest version of a task is the last one
    for (const results_db::ScoreRow& row : trial.scores)
        if (const auto measure = measure_of(row)) scores[*measure] = row.value;
    for (const auto& [measure, value] : scores)
        result.values[measure].push_back({trial.seed, trial.attempt_uid, value});
}

std::string why(const TrialRow& trial) {
    const std::string first_line = trial.error.substr(0, trial.error.find('\n'));
    const std::string what = trial.fail_class.empty() ? trial.state : trial.fail_class;
    return fmt::format("seed {}: {}{}", trial.seed, what, first_line.empty() ? "" : ": " + first_line);
}

}  // namespace

std::vector<MeasuredCase> measured_cases(const results_db::SweepResults& sweep,
                                         const std::map<std::string, results_db::TrialCurve>& curves) {
    std::vector<MeasuredCase> cases;
    for (const Variant& variant : variants_of(sweep)) {
        MeasuredCase result;
        result.name = variant.name;
        result.variant_hash = variant.trials.front()->variant_hash;
        result.seeds = variant.trials.size();
        for (const TrialRow* trial : variant.trials) {
            if (trial->state == "ok") {
                add_scores(result, *trial);
                const auto curve = curves.find(trial->config_hash);
                if (curve == curves.end()) continue;
                add_curve(result, *trial, training_loss_curve(), training_curve(curve->second));
                add_curve(result, *trial, validation_loss_curve(), validation_curve(curve->second));
            } else if (was_stopped(*trial)) {
                result.unfinished.push_back(trial->seed);
            } else {
                result.crashed.push_back(why(*trial));
            }
        }
        cases.push_back(std::move(result));
    }
    return cases;
}

results_db::SweepResults selected(results_db::SweepResults sweep, std::span<const std::string> selectors) {
    if (selectors.empty()) return sweep;
    for (const std::string& selector : selectors) {
        std::vector<std::string> known;
        for (const TrialRow& trial : sweep.trials) known.push_back(trial.case_key);
        known.erase(std::unique(known.begin(), known.end()), known.end());
        if (std::none_of(sweep.trials.begin(), sweep.trials.end(),
                         [&](const TrialRow& trial) { return results_db::is_named(trial, selector); }))
            throw Error(ErrorKind::missing, fmt::format("no trial of sweep {} is called {}", sweep.name, selector),
                        suggestion(selector, known));
    }
    std::erase_if(sweep.trials, [&](const TrialRow& trial) {
        return std::none_of(selectors.begin(), selectors.end(),
                            [&](const std::string& selector) { return results_db::is_named(trial, selector); });
    });
    return sweep;
}

}  // namespace deft::reporting
