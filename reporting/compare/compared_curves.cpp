#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "reporting/compare/equal_cost.h"
#include "reporting/cost/slot_shapes.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using journal::TrainPoint;
using results_db::TrialCurve;
using results_db::TrialRow;

constexpr double kAveragedShare = 0.05;  // of what the shorter side paid, over which training losses are averaged

double seconds_of(const TrainPoint& point) {
    return static_cast<double>(point.wall_ms) / 1000;
}

// Nothing where the trial has no price.
std::optional<double> paid_at(const TrainPoint& point, const TrialRow& trial, Cost by) {
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

TrialCurves trial_curves(const TrialCurve& curve, const TrialRow& trial, Cost by) {
    TrialCurves result;
    for (const TrainPoint& point : curve.points)
        if (const auto paid = paid_at(point, trial, by)) add_point(result.training, *paid, without_balance(point));
    for (const auto& [step, loss] : curve.validation_losses)
        if (const TrainPoint* point = newest_point(curve, step))
            if (const auto paid = paid_at(*point, trial, by)) add_point(result.validation, *paid, loss);
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

std::vector<TrialCurves> of_trials(const Variant& variant, const Curves& curves, Cost by) {
    std::vector<TrialCurves> result;
    for (const TrialRow* trial : variant.ok)
        if (const auto found = curves.find(trial->config_hash); found != curves.end())
            result.push_back(trial_curves(found->second, *trial, by));
        else
            result.emplace_back();
    return result;
}

bool all_have(const std::vector<TrialCurves>& seeds, LossCurve TrialCurves::*curve, std::size_t fewest) {
    return std::all_of(seeds.begin(), seeds.end(),
                       [&](const TrialCurves& one) { return (one.*curve).size() >= fewest; });
}

// A curve a seed: the mean over the trials that nest in it.
std::vector<LossCurve> by_seed(const Variant& variant, const std::vector<TrialCurves>& trials,
                               LossCurve TrialCurves::*curve) {
    std::map<std::string, std::vector<LossCurve>> of_seeds;
    for (std::size_t i = 0; i < trials.size(); ++i) of_seeds[unit_seed(*variant.ok[i])].push_back(trials[i].*curve);
    std::vector<LossCurve> curves;
    for (const auto& [seed, nested] : of_seeds)
        curves.push_back(nested.size() == 1 ? nested.front() : mean_curve(nested));
    return curves;
}

std::string why_missing(const Variant& variant, const std::vector<TrialCurves>& trials, Cost by) {
    if (variant.ok.empty()) return fmt::format("no seed of {} has finished", variant.name);
    if (variant.trials.front()->imported) return fmt::format("{} was imported, and was not trained here", variant.name);
    if (by == Cost::usd)
        for (const TrialRow* trial : variant.ok)
            if (!trial->usd || *trial->usd <= 0)
                return fmt::format("{} has no price: set [price] in the sweep file", variant.name);
    if (!all_have(trials, &TrialCurves::training, 2)) return fmt::format("{} has no curve of its losses", variant.name);
    return {};
}

// What the losses are of.
std::set<std::string> data_of(const Variant& variant) {
    std::set<std::string> data;
    for (const TrialRow* trial : variant.ok) data.insert(trial->dataset_sha256);
    return data;
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
        {Cost::layer_tokens, "layer-tokens", "layer-averaged tokens", [](double value) { return si(value); }},
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

ComparedCurves compared_curves(const Variant& a, const Curves& curves_of_a, const Variant& b, const Curves& curves_of_b,
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
        result.missing = "the two were trained on other data, and losses of other texts say nothing of each other";
        return result;
    }
    if (by == Cost::seconds && !have_one_slot_shape(a, b)) {
        std::set<std::string> shapes = slot_shapes(a);
        shapes.merge(slot_shapes(b));
        result.missing =
            "seconds compare only within one slot shape, and these were trained on several: " + to_text(shapes);
        return result;
    }
    result.is_validation = all_have(of_a, &TrialCurves::validation, 2) && all_have(of_b, &TrialCurves::validation, 2);
    if (!result.is_validation) {
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
