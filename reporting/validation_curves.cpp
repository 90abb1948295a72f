#include "reporting/validation_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using journal::TrainPoint;
using results_db::TrialCurve;

constexpr std::size_t kFewestPoints = 3;
constexpr std::size_t kMostSeries = 12;  // that a reader can tell apart

struct Abscissa {
    const char* id;
    const char* name;
    double (*value)(const TrainPoint&);
};

constexpr Abscissa kAbscissas[] = {
    {"by-layer-tokens", "layer-averaged tokens", [](const TrainPoint& p) { return double(p.layer_tokens); }},
    {"by-flops", "FLOPs", [](const TrainPoint& p) { return p.flops; }},
};

// Of all seeds at one step.
struct AtStep {
    std::vector<double> paid, losses;
};

std::vector<CurvePoint> points_of(const std::vector<const TrialCurve*>& seeds, const Abscissa& abscissa) {
    std::map<std::int64_t, AtStep> by_step;
    for (const TrialCurve* curve : seeds)
        for (const auto& [step, loss] : curve->validation_losses) {
            const TrainPoint* point = newest_point(*curve, step);
            if (point == nullptr || !std::isfinite(loss)) continue;
            by_step[step].paid.push_back(abscissa.value(*point));
            by_step[step].losses.push_back(loss);
        }
    std::vector<CurvePoint> points;
    for (const auto& [step, at] : by_step) {
        // A mean over fewer seeds than the rest would jump.
        if (at.losses.size() != seeds.size()) continue;
        const auto [least, most] = std::minmax_element(at.losses.begin(), at.losses.end());
        points.push_back({mean(at.paid), mean(at.losses), *least, *most});
    }
    return points;
}

std::vector<const TrialCurve*> curves_of(const Variant& variant, const Curves& curves) {
    std::vector<const TrialCurve*> own;
    for (const results_db::TrialRow* trial : variant.ok)
        if (const auto found = curves.find(trial->config_hash); found != curves.end()) own.push_back(&found->second);
    return own;
}

}  // namespace

std::vector<Figure> validation_figures(const std::vector<Variant>& variants, const Curves& curves) {
    const CaseStyles styles(variants);
    std::vector<Figure> figures;
    for (const Abscissa& abscissa : kAbscissas) {
        Figure figure;
        figure.id = std::string("validation-") + abscissa.id;
        figure.title = fmt::format("Validation loss by {}", abscissa.name);
        figure.x_title = abscissa.name;
        figure.y_title = "Validation loss (nats)";
        for (const Variant& variant : variants) {
            const std::vector<const TrialCurve*> seeds = curves_of(variant, curves);
            Series series;
            series.name = series_name(variant);
            series.seeds = seeds.size();
            series.points = points_of(seeds, abscissa);
            if (seeds.size() != variant.ok.size() || series.points.size() < kFewestPoints) continue;
            if (figure.series.size() == kMostSeries) {
                figure.not_drawn.push_back(variant.name);
                continue;
            }
            styles.give(variant, series);
            if (!variant.axes.has_budget) series.dash = series.style;
            figure.series.push_back(std::move(series));
        }
        if (figure.series.size() > 1) figures.push_back(std::move(figure));
    }
    return figures;
}

}  // namespace deft::reporting
