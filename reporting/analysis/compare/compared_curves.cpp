#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "reporting/analysis/compare/equal_cost.h"
#include "reporting/analysis/cost/comparable_seconds.h"
#include "reporting/analysis/cost/cpu_contention.h"
#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using journal::TrainPoint;
using results_db::TrialCurve;

constexpr double kAveragedShare = 0.05;  // of what the shorter side paid, over which training losses are averaged

double seconds_of(const TrainPoint& point) {
    return static_cast<double>(point.wall_ms) / 1000;
}

// Nothing where the trial has no price.
std::optional<double> paid_at(const TrainPoint& point, const Trial& trial, Cost by) {
    switch (by) {
        case Cost::layer_tokens:
            return static_cast<double>(point.layer_tokens);
        case Cost::tokens:
            return static_cast<double>(point.input_tokens);
        case Cost::flops:
            return point.flops;
        case Cost::seconds:
            return seconds_of(point);
        case Cost::usd:
            break;
    }
    if (!trial.usd || !trial.last_point || trial.last_point->wall_ms <= 0) return std::nullopt;
    return *trial.usd * seconds_of(point) / seconds_of(*trial.last_point);
}

// One trial's, as logged. What is not finite, or paid nothing since the point before, is left out.
struct TrialCurves {
    LossCurve training, validation;
};

void add_point(LossCurve& curve, double paid, double loss) {
    if (!std::isfinite(paid) || !std::isfinite(loss)) return;
    if (curve.empty() || paid > curve.back().consumed)
        curve.push_back({paid, loss});
    else if (paid == curve.back().consumed)
        curve.back().loss = loss;
}

// Without what experts and their gates are kept even by, which no dense model pays.
double without_balance(const TrainPoint& point) {
    double loss = point.loss;
    for (std::size_t i = 0; i < std::min(point.head_names.size(), point.head_losses.size()); ++i)
        if (point.head_names[i] == journal::kExpertBalance || point.head_names[i] == journal::kGateZ)
            loss -= point.head_losses[i];
    return loss;
}

// Between two logged steps linear in the step, as where the curve is thinned; nothing before the first.
std::optional<double> paid_by_step(const TrialCurve& curve, std::int64_t step, const Trial& trial, Cost by) {
    const TrainPoint* before = newest_point(curve, step);
    if (before == nullptr) return std::nullopt;
    const auto paid = paid_at(*before, trial, by);
    const auto after = std::find_if(curve.points.begin(), curve.points.end(),
                                    [&](const TrainPoint& point) { return point.step > step; });
    if (!paid || before->step == step || after == curve.points.end()) return paid;
    const auto paid_after = paid_at(*after, trial, by);
    if (!paid_after) return paid;
    const double share = static_cast<double>(step - before->step) / static_cast<double>(after->step - before->step);
    return *paid + share * (*paid_after - *paid);
}

// Whether steps are left out. A whole curve has every multiple of its first step that no validation asked for.
bool is_thinned(const TrialCurve& curve) {
    const auto is_validated = [&](std::int64_t step) {
        return std::any_of(curve.validation_losses.begin(), curve.validation_losses.end(),
                           [&](const auto& validation) { return validation.first == step; });
    };
    const auto first = std::find_if(curve.points.begin(), curve.points.end(),
                                    [&](const TrainPoint& point) { return !is_validated(point.step); });
    if (first == curve.points.end()) return false;
    for (std::size_t i = 1; i < curve.points.size(); ++i)
        if (curve.points[i].step - curve.points[i - 1].step > first->step) return true;
    return false;
}

TrialCurves trial_curves(const TrialCurve& curve, const Trial& trial, Cost by) {
    TrialCurves result;
    for (const TrainPoint& point : curve.points)
        if (const auto paid = paid_at(point, trial, by)) add_point(result.training, *paid, without_balance(point));
    for (const auto& [step, loss] : curve.validation_losses)
        if (const auto paid = paid_by_step(curve, step, trial, by)) add_point(result.validation, *paid, loss);
    return result;
}

// The mean of what was logged within `span` up to each point, where the curve reaches back that far.
LossCurve averaged(const LossCurve& curve, double span) {
    LossCurve result;
    double sum = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < curve.size(); ++i) {
        sum += curve[i].loss;
        while (curve[first].consumed <= curve[i].consumed - span) sum -= curve[first++].loss;
        if (curve[i].consumed - span >= 0)
            result.push_back({curve[i].consumed, sum / static_cast<double>(i - first + 1)});
    }
    return result;
}

std::vector<TrialCurves> of_trials(const Row& row, const Curves& curves, Cost by) {
    std::vector<TrialCurves> result;
    for (const Trial* trial : row.ok)
        if (const auto found = curves.find(trial->config_hash); found != curves.end())
            result.push_back(trial_curves(found->second, *trial, by));
        else
            result.emplace_back();
    return result;
}

bool any_thinned(const Row& row, const Curves& curves) {
    return std::any_of(row.ok.begin(), row.ok.end(), [&](const Trial* trial) {
        const auto found = curves.find(trial->config_hash);
        return found != curves.end() && is_thinned(found->second);
    });
}

bool all_have(const std::vector<TrialCurves>& seeds, LossCurve TrialCurves::*curve, std::size_t fewest) {
    return std::all_of(seeds.begin(), seeds.end(),
                       [&](const TrialCurves& one) { return (one.*curve).size() >= fewest; });
}

// A curve a seed: the mean over the trials that nest in it.
std::vector<LossCurve> by_seed(const Row& row, const std::vector<TrialCurves>& trials, LossCurve TrialCurves::*curve) {
    std::map<std::string, std::vector<LossCurve>> of_seeds;
    for (std::size_t i = 0; i < trials.size(); ++i) of_seeds[unit_seed(*row.ok[i])].push_back(trials[i].*curve);
    std::vector<LossCurve> curves;
    for (const auto& [seed, nested] : of_seeds)
        curves.push_back(nested.size() == 1 ? nested.front() : mean_curve(nested));
    return curves;
}

std::string why_missing(const Row& row, const std::vector<TrialCurves>& trials, Cost by) {
    if (row.ok.empty()) return fmt::format("no seed of {} has finished", row.name);
    if (row.trials.front()->imported) return fmt::format("{} was imported, and was not trained here", row.name);
    if (by == Cost::usd)
        for (const Trial* trial : row.ok)
            if (!trial->usd || *trial->usd <= 0)
                return fmt::format("{} has no price: set [price] in the sweep file", row.name);
    if (!all_have(trials, &TrialCurves::training, 2)) return fmt::format("{} has no curve of its losses", row.name);
    return {};
}

// The kind of losses.
std::set<std::string> data_of(const Row& row) {
    std::set<std::string> data;
    for (const Trial* trial : row.ok) data.insert(trial->dataset_sha256);
    return data;
}

// Why seconds of training, and dollars that follow from them, do not compare; empty: they do.
std::string why_seconds_differ(const Row& a, const Row& b, const std::string& quantity) {
    switch (seconds_compare(a, b)) {
        case SecondsCompare::other_slot: {
            std::set<std::string> shapes = slot_shapes(a);
            shapes.merge(slot_shapes(b));
            return fmt::format("{} compare only within one worker shape, and these were trained on several: {}",
                               quantity, to_text(shapes));
        }
        case SecondsCompare::contention:
            return contention_differs({&a, &b}, quantity);
        case SecondsCompare::yes:
            break;
    }
    return {};
}

double shorter(const std::vector<TrialCurves>& a, const std::vector<TrialCurves>& b) {
    double least = a.front().training.back().consumed;
    for (const auto* side : {&a, &b})
        for (const TrialCurves& one : *side) least = std::min(least, one.training.back().consumed);
    return least;
}

}  // namespace

const std::vector<CostWords>& cost_words() {
    static const std::vector<CostWords> words = {
        {Cost::layer_tokens, "layer-tokens", "consumed tokens", [](double value) { return si(value); }},
        {Cost::tokens, "tokens", "input tokens", [](double value) { return si(value); }},
        {Cost::flops, "flops", "FLOPs", [](double value) { return si(value); }},
        {Cost::seconds, "seconds", "seconds of training", short_seconds},
        {Cost::usd, "usd", "dollars", dollars},
    };
    return words;
}

const CostWords& words_of(Cost cost) {
    return *std::find_if(cost_words().begin(), cost_words().end(),
                         [&](const CostWords& one) { return one.cost == cost; });
}

ComparedCurves compared_curves(const Row& a, const Curves& curves_of_a, const Row& b, const Curves& curves_of_b,
                               Cost by) {
    ComparedCurves result;
    result.by = by;
    std::vector<TrialCurves> of_a = of_trials(a, curves_of_a, by), of_b = of_trials(b, curves_of_b, by);
    for (const std::string& why : {why_missing(a, of_a, by), why_missing(b, of_b, by)})
        if (!why.empty()) {
            result.missing = why;
            return result;
        }
    if (data_of(a) != data_of(b)) {
        result.missing = "the two were trained on different data, and losses on different texts are not comparable";
        return result;
    }
    if (by == Cost::seconds || by == Cost::usd) result.missing = why_seconds_differ(a, b, words_of(by).title);
    if (!result.missing.empty()) return result;
    result.is_validation = all_have(of_a, &TrialCurves::validation, 2) && all_have(of_b, &TrialCurves::validation, 2);
    if (!result.is_validation) {
        for (const auto& [row, curves] : {std::pair(&a, &curves_of_a), std::pair(&b, &curves_of_b)})
            if (any_thinned(*row, *curves)) {
                result.missing = fmt::format(
                    "the training curves of {} are thinned, as an export keeps them, and means over the points that "
                    "are "
                    "left say little of those between",
                    row->name);
                return result;
            }
        const double span = kAveragedShare * shorter(of_a, of_b);
        for (auto* side : {&of_a, &of_b})
            for (TrialCurves& one : *side) one.training = averaged(one.training, span);
    }
    const auto curve = result.is_validation ? &TrialCurves::validation : &TrialCurves::training;
    result.a = by_seed(a, of_a, curve);
    result.b = by_seed(b, of_b, curve);
    for (const auto* side : {&result.a, &result.b})
        for (const LossCurve& one : *side)
            if (one.empty()) result.missing = "some of the curves end before others begin";
    return result;
}

}  // namespace deft::reporting
