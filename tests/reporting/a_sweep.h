#pragma once
// Rows for report tests, as the database would give them.

#include <limits>
#include <string>
#include <utility>

#include "reporting/analysis/results/results.h"

namespace deft::reporting {

inline constexpr const char* kFullBudget = R"({"train.budget_fraction":1.0})";
inline constexpr const char* kHalfBudget = R"({"train.budget_fraction":0.5})";

inline Score a_score(const char* task, const char* measure, double value, std::int64_t shots = 0) {
    Score row;
    row.task = task;
    row.measure = measure;
    row.better = "higher";
    row.split = "test";
    row.value = value;
    row.n = 100;
    row.chance = std::numeric_limits<double>::quiet_NaN();
    row.standard_error = std::numeric_limits<double>::quiet_NaN();
    row.shots = shots;
    return row;
}

inline Score a_validation(const char* metric, double value) {
    Score row = a_score("validation", metric, value);
    row.unit = "nats/token";
    row.better = "lower";
    return row;
}

// The text and its parsed settings.
inline void set_configuration(Trial& trial, std::string json) {
    trial.config_json = std::move(json);
    trial.settings = parse_settings(trial.config_json);
}

// Finished, at full length, with a validation loss.
inline Trial a_finished_trial(const char* recipe, const char* axes, std::int64_t seed, double loss,
                              std::int64_t wall_ms = 1000) {
    Trial trial;
    trial.recipe = recipe;
    trial.axes_json = axes;
    trial.seed = seed;
    trial.config_hash = std::string(recipe) + axes + std::to_string(seed);
    set_configuration(trial, R"({"model":{"seqlen":64}})");
    trial.state = "ok";
    trial.attempts = 1;
    trial.parameters = 1000;
    journal::TrainPoint last;
    last.step = 1000;
    last.input_tokens = last.unique_tokens = last.layer_tokens = 1000;
    last.flops = 1e9;
    last.wall_ms = wall_ms;
    last.seqlen = last.kept_tokens = 64;
    trial.last_point = last;
    trial.scores = {a_validation("loss", loss)};
    return trial;
}

inline Results a_sweep_of(std::vector<Trial> trials) {
    Results sweep;
    sweep.name = "quick";
    sweep.trials = std::move(trials);
    for (std::size_t i = 0; i < sweep.trials.size(); ++i) sweep.trials[i].ordinal = static_cast<std::int64_t>(i);
    return sweep;
}

}  // namespace deft::reporting
