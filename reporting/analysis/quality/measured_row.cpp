#include "reporting/analysis/quality/measured_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "base/metric.h"
#include "base/score_key.h"
#include "base/suggestion.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/results/named_trials.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/scores/measured.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

std::int64_t seed_of(const Trial& trial) {
    std::int64_t seed = trial.seed;
    const std::string unit = unit_seed(trial);
    std::from_chars(unit.data(), unit.data() + unit.size(), seed);
    return seed;
}

// As people name it.
std::string seeds_text(const Trial& trial) {
    return trial.seeds.empty() ? std::to_string(trial.seed) : trial.seeds;
}

// Stopped from outside: it says nothing of the recipe.
bool was_stopped(const Trial& trial) {
    const bool crashed = trial.state == "failed" || trial.state == "timeout";
    return !crashed || trial.fail_class == "user" || trial.fail_class == "preempt" || trial.fail_class == "stale";
}

void add_curve(MeasuredRow& result, const Trial& trial, const Measure& measure, LossCurve curve) {
    if (curve.size() < 2) return;
    const double value = late_loss(curve, curve.back().consumed).value_or(std::numeric_limits<double>::quiet_NaN());
    result.values[measure].push_back({seed_of(trial), trial.attempt_uid, value, std::move(curve)});
}

// Whether a run would score it again. What was scored besides the sweep's own tasks stays as it is.
bool is_asked(const Trial& trial, const Score& row) {
    return std::any_of(trial.asked.begin(), trial.asked.end(), [&](const results_db::AskedScore& one) {
        return one.task == row.task && one.shots == row.shots;
    });
}

// A finished trial that is stale; a newer one may have been tried since.
void add_stale(MeasuredRow& result, const Trial& trial) {
    const std::string seed = fmt::format("seed {}", seeds_text(trial));
    if (trial.newer_state == "failed" || trial.newer_state == "timeout")
        result.crashed.push_back(fmt::format("{}: {}, trained again for being stale", seed, trial.newer_state));
    else if (!trial.newer_state.empty())
        result.unfinished.push_back(seeds_text(trial));
    else
        result.stale.push_back(fmt::format("{}: {}", seed, trial.stale));
}

void add_scores(MeasuredRow& result, const Trial& trial) {
    std::map<Measure, const Score*> scores;  // the newest version of a task is the last one
    for (const Score& row : trial.scores)
        if (const auto measure = measure_of(row)) scores[*measure] = &row;
    for (const auto& [measure, row] : scores)
        if (row->stale.empty())
            result.values[measure].push_back({seed_of(trial), trial.attempt_uid, row->value, {}, row->score_key});
        else if (is_asked(trial, *row))
            result.stale.push_back(fmt::format("seed {}, {}: {}", seeds_text(trial), name(measure), row->stale));
}

std::string why(const Trial& trial) {
    const std::string first_line = trial.error.substr(0, trial.error.find('\n'));
    const std::string what = trial.fail_class.empty() ? trial.state : trial.fail_class;
    return fmt::format("seed {}: {}{}", seeds_text(trial), what, first_line.empty() ? "" : ": " + first_line);
}

}  // namespace

std::vector<MeasuredRow> measured_rows(const Results& sweep,
                                       const std::map<std::string, results_db::TrialCurve>& curves) {
    std::vector<MeasuredRow> rows;
    for (const Row& row : rows_of(sweep)) {
        if (is_imported(row)) continue;  // no recipe made it
        MeasuredRow result;
        result.name = row.name;
        result.variant_hash = row.trials.front()->variant_hash;
        result.seeds = row.trials.size();
        for (const Trial* trial : row.trials) {
            if (trial->state == "ok" && !trial->stale.empty()) {
                add_stale(result, *trial);
            } else if (trial->state == "ok") {
                add_scores(result, *trial);
                const auto curve = curves.find(trial->config_hash);
                if (curve == curves.end()) continue;
                add_curve(result, *trial, training_loss_curve(), training_curve(curve->second));
                add_curve(result, *trial, validation_loss_curve(), validation_curve(curve->second));
            } else if (was_stopped(*trial)) {
                result.unfinished.push_back(seeds_text(*trial));
            } else {
                result.crashed.push_back(why(*trial));
            }
        }
        rows.push_back(std::move(result));
    }
    return rows;
}

std::vector<SeedScore> mean_by_seed(std::span<const SeedScore> values) {
    std::vector<SeedScore> means;
    std::vector<double> counts;
    for (const SeedScore& one : values) {
        const auto found =
            std::find_if(means.begin(), means.end(), [&](const SeedScore& m) { return m.seed == one.seed; });
        if (found == means.end()) {
            means.push_back(one);
            counts.push_back(1);
        } else {
            found->value += one.value;
            ++counts[static_cast<std::size_t>(found - means.begin())];
        }
    }
    for (std::size_t i = 0; i < means.size(); ++i) means[i].value /= counts[i];
    return means;
}

Results selected(Results sweep, std::span<const std::string> selectors) {
    if (selectors.empty()) return sweep;
    for (const std::string& selector : selectors) {
        std::vector<std::string> known;
        for (const Trial& trial : sweep.trials) known.push_back(trial.recipe);
        known.erase(std::unique(known.begin(), known.end()), known.end());
        if (std::none_of(sweep.trials.begin(), sweep.trials.end(),
                         [&](const Trial& trial) { return is_meant(trial, selector); }))
            throw Error(ErrorKind::usage, fmt::format("no trial of sweep {} is called {}", sweep.name, selector),
                        suggestion(selector, known));
    }
    std::erase_if(sweep.trials, [&](const Trial& trial) {
        return std::none_of(selectors.begin(), selectors.end(),
                            [&](const std::string& selector) { return is_meant(trial, selector); });
    });
    return sweep;
}

namespace {

Measure loss_curve_of(const char* task) {
    ScoreId id;
    id.task = task;
    id.metric = "loss curve";
    id.unit = "nats/token";
    id.better = "lower";
    return {MeasureKind::curve, std::move(id)};
}

}  // namespace

Measure training_loss_curve() {
    return loss_curve_of("training");
}

Measure validation_loss_curve() {
    return loss_curve_of("validation");
}

std::optional<Measure> measure_of(const Score& score) {
    if (is_unigram_entropy(score) || is_timed(score.measure)) return std::nullopt;
    if (score.better != "lower" && score.better != "higher") return std::nullopt;
    return Measure{MeasureKind::score, id_of(score)};
}

std::string name(const Measure& measure) {
    return title(measure.id);
}

Json to_json(const Measure& measure) {
    Json json = Json(to_json(measure.id));
    json["kind"] = measure.kind == MeasureKind::curve ? "curve" : "score";
    if (measure.id.under_capacity) json["under_capacity"] = true;
    return json;
}

Measure measure_from(const Json& json) {
    try {
        const auto kind = json.at("kind").get<std::string>(), better = json.at("better").get<std::string>();
        if ((kind != "curve" && kind != "score") || (better != "lower" && better != "higher"))
            throw Error(ErrorKind::database, fmt::format("a measure of the kind {}, {} being better", kind, better));
        ScoreId id;
        id.task = json.at("task").get<std::string>();
        id.split = json.at("split").get<std::string>();
        id.shots = json.at("shots").get<std::int64_t>();
        id.metric = json.at("metric").get<std::string>();
        id.unit = json.at("unit").get<std::string>();
        id.better = better;
        id.under_capacity = json.value("under_capacity", false);
        return {kind == "curve" ? MeasureKind::curve : MeasureKind::score, std::move(id)};
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::database, fmt::format("a measure that cannot be read: {}", error.what()));
    }
}

namespace {

constexpr int kSamples = 256;  // of the half that is averaged

// Equal numbers of neighbours become one point.
LossCurve thinned(const LossCurve& curve) {
    if (curve.size() <= kMostCurvePoints) return curve;
    LossCurve points;
    for (std::size_t i = 0; i < kMostCurvePoints; ++i) {
        const std::size_t begin = i * curve.size() / kMostCurvePoints, end = (i + 1) * curve.size() / kMostCurvePoints;
        LossPoint sum;
        for (std::size_t k = begin; k < end; ++k) {
            sum.consumed += curve[k].consumed;
            sum.loss += curve[k].loss;
        }
        const double n = static_cast<double>(end - begin);
        points.push_back({sum.consumed / n, sum.loss / n});
    }
    return points;
}

// Steps that consumed nothing have no place on a logarithmic axis, nor have two of one place.
void append(LossCurve& curve, std::int64_t tokens, double loss) {
    if (tokens > 0 && (curve.empty() || static_cast<double>(tokens) > curve.back().consumed))
        curve.push_back({static_cast<double>(tokens), loss});
}

}  // namespace

LossCurve training_curve(const results_db::TrialCurve& trial) {
    LossCurve curve;
    for (const journal::TrainPoint& point : trial.points) append(curve, point.layer_tokens, point.loss);
    return thinned(curve);
}

LossCurve validation_curve(const results_db::TrialCurve& trial) {
    LossCurve curve;
    auto point = trial.points.begin();
    std::int64_t consumed = 0;
    for (const auto& [step, loss] : trial.validation_losses) {
        for (; point != trial.points.end() && point->step <= step; ++point) consumed = point->layer_tokens;
        append(curve, consumed, loss);
    }
    return thinned(curve);
}

std::optional<double> late_loss(const LossCurve& curve, double tokens) {
    const double from = tokens / 2;
    if (curve.empty() || !(tokens > 0) || curve.front().consumed > from || curve.back().consumed < tokens)
        return std::nullopt;
    const auto inside = std::count_if(curve.begin(), curve.end(),
                                      [&](const LossPoint& p) { return p.consumed >= from && p.consumed <= tokens; });
    if (inside < 2) return std::nullopt;
    double sum = 0;
    for (int i = 0; i < kSamples; ++i) sum += loss_at(curve, from + (tokens - from) * (i + 0.5) / kSamples).value();
    return sum / kSamples;
}

double common_tokens(std::span<const LossCurve* const> curves) {
    if (curves.empty()) return 0;
    double tokens = HUGE_VAL;
    for (const LossCurve* curve : curves) tokens = std::min(tokens, curve->empty() ? 0 : curve->back().consumed);
    return tokens;
}

}  // namespace deft::reporting
