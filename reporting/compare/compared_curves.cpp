#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reporting/compare/equal_cost.h"
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

// One seed's, as logged. What is not finite, or paid nothing since the point before, is left out.
struct SeedCurves {
    CostCurve training, validation;
};

void add_point(CostCurve& curve, double paid, double loss) {
    if (!std::isfinite(paid) || !std::isfinite(loss)) return;
    if (curve.empty() || paid > curve.back().paid)
        curve.push_back({paid, loss});
    else if (paid == curve.back().paid)
        curve.back().loss = loss;
}

SeedCurves seed_curves(const TrialCurve& curve, const TrialRow& trial, Cost by) {
    SeedCurves result;
    for (const TrainPoint& point : curve.points)
        if (const auto paid = paid_at(point, trial, by)) add_point(result.training, *paid, point.loss);
    for (const auto& [step, loss] : curve.validation_losses)
        if (const TrainPoint* point = newest_point(curve, step))
            if (const auto paid = paid_at(*point, trial, by)) add_point(result.validation, *paid, loss);
    return result;
}

// The mean of what was logged within `span` up to each point, where the curve reaches back that far.
CostCurve averaged(const CostCurve& curve, double span) {
    CostCurve result;
    double sum = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < curve.size(); ++i) {
        sum += curve[i].loss;
        while (curve[first].paid <= curve[i].paid - span) sum -= curve[first++].loss;
        if (curve[i].paid - span >= 0) result.push_back({curve[i].paid, sum / static_cast<double>(i - first + 1)});
    }
    return result;
}

std::vector<SeedCurves> of_seeds(const Variant& variant, const Curves& curves, Cost by) {
    std::vector<SeedCurves> result;
    for (const TrialRow* trial : variant.ok)
        if (const auto found = curves.find(trial->config_hash); found != curves.end())
            result.push_back(seed_curves(found->second, *trial, by));
        else
            result.emplace_back();
    return result;
}

bool all_have(const std::vector<SeedCurves>& seeds, CostCurve SeedCurves::*curve, std::size_t fewest) {
    return std::all_of(seeds.begin(), seeds.end(),
                       [&](const SeedCurves& one) { return (one.*curve).size() >= fewest; });
}

std::vector<CostCurve> taken(std::vector<SeedCurves>& seeds, CostCurve SeedCurves::*curve) {
    std::vector<CostCurve> curves;
    for (SeedCurves& one : seeds) curves.push_back(std::move(one.*curve));
    return curves;
}

std::string why_missing(const Variant& variant, const std::vector<SeedCurves>& seeds, Cost by) {
    if (variant.ok.empty()) return fmt::format("no seed of {} has finished", variant.name);
    if (by == Cost::usd)
        for (const TrialRow* trial : variant.ok)
            if (!trial->usd) return fmt::format("{} has no price: say what a device costs in [cost]", variant.name);
    if (!all_have(seeds, &SeedCurves::training, 2)) return fmt::format("{} has no curve of its losses", variant.name);
    return {};
}

double shorter(const std::vector<SeedCurves>& a, const std::vector<SeedCurves>& b) {
    double least = a.front().training.back().paid;
    for (const auto* side : {&a, &b})
        for (const SeedCurves& one : *side) least = std::min(least, one.training.back().paid);
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
    std::vector<SeedCurves> of_a = of_seeds(a, curves_of_a, by), of_b = of_seeds(b, curves_of_b, by);
    for (const std::string& why : {why_missing(a, of_a, by), why_missing(b, of_b, by)})
        if (!why.empty()) {
            result.missing = why;
            return result;
        }
    result.is_validation = all_have(of_a, &SeedCurves::validation, 2) && all_have(of_b, &SeedCurves::validation, 2);
    if (!result.is_validation) {
        const double span = kAveragedShare * shorter(of_a, of_b);
        for (auto* side : {&of_a, &of_b})
            for (SeedCurves& one : *side) one.training = averaged(one.training, span);
    }
    const auto curve = result.is_validation ? &SeedCurves::validation : &SeedCurves::training;
    result.a = taken(of_a, curve);
    result.b = taken(of_b, curve);
    return result;
}

}  // namespace deft::reporting
