#include "reporting/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "reporting/case_styles.h"
#include "reporting/decimate.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using journal::TrainPoint;
using results_db::TrialCurve;

constexpr std::size_t kMostSeries = 12;
constexpr std::size_t kMostPoints = 600;
constexpr std::size_t kTablePoints = 12;

struct Abscissa {
    const char* id;
    const char* name;
    double (*value)(const TrainPoint&);
};

constexpr Abscissa kAbscissas[] = {
    {"by-layer-tokens", "layer-averaged tokens", [](const TrainPoint& p) { return double(p.layer_tokens); }},
    {"by-input-tokens", "input tokens", [](const TrainPoint& p) { return double(p.input_tokens); }},
    {"by-flops", "FLOPs", [](const TrainPoint& p) { return p.flops; }},
};

std::vector<const TrialCurve*> curves_of(const Variant& variant, const Curves& curves) {
    std::vector<const TrialCurve*> out;
    for (const results_db::TrialRow* trial : variant.ok)
        if (const auto found = curves.find(trial->config_hash); found != curves.end() && !found->second.points.empty())
            out.push_back(&found->second);
    return out;
}

// The values of all seeds at one step.
struct Gathered {
    double x = 0, sum = 0, low = 0, high = 0;
    std::size_t count = 0;
    bool finite = true;

    void add(double at, double value) {
        finite = finite && std::isfinite(at) && std::isfinite(value);
        x += at;
        sum += value;
        low = count == 0 ? value : std::min(low, value);
        high = count == 0 ? value : std::max(high, value);
        ++count;
    }
    CurvePoint point() const {
        const double n = static_cast<double>(count);
        return {x / n, sum / n, low, high};
    }
};

// A mean over fewer seeds than the rest would jump: steps that not all seeds have are left out.
void take_points(const std::map<std::int64_t, Gathered>& by_step, std::size_t seeds, std::vector<CurvePoint>& points,
                 std::size_t& not_finite) {
    for (const auto& [step, gathered] : by_step) {
        if (gathered.count != seeds) continue;
        if (gathered.finite)
            points.push_back(gathered.point());
        else
            ++not_finite;
    }
    std::stable_sort(points.begin(), points.end(), [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
}

// What had been consumed at that step: the newest point up to it.
double consumed_at(const TrialCurve& curve, std::int64_t step, const Abscissa& abscissa) {
    double value = 0;
    for (const TrainPoint& point : curve.points)
        if (point.step <= step) value = abscissa.value(point);
    return value;
}

Series series_of(const Variant& variant, const std::vector<const TrialCurve*>& curves, const Abscissa& abscissa) {
    Series series;
    series.name = series_name(variant);
    series.seeds = curves.size();
    std::map<std::int64_t, Gathered> losses, validation;
    for (const TrialCurve* curve : curves) {
        for (const TrainPoint& point : curve->points) losses[point.step].add(abscissa.value(point), point.loss);
        for (const auto& [step, loss] : curve->validation_losses)
            validation[step].add(consumed_at(*curve, step, abscissa), loss);
    }
    take_points(losses, series.seeds, series.points, series.not_finite);
    take_points(validation, series.seeds, series.marks, series.not_finite);
    series.points = decimate(series.points, kMostPoints);
    return series;
}

}  // namespace

std::vector<Figure> curve_figures(const std::vector<Variant>& variants, const Curves& curves) {
    std::vector<Figure> figures;
    const CaseStyles styles(variants);
    for (const Abscissa& abscissa : kAbscissas) {
        Figure figure;
        figure.id = std::string("loss-") + abscissa.id;
        figure.title = fmt::format("Training loss by {}", abscissa.name);
        figure.x_title = abscissa.name;
        figure.y_title = "Training loss (nats a token)";
        for (const Variant& variant : variants) {
            const std::vector<const TrialCurve*> own = curves_of(variant, curves);
            if (own.empty()) continue;
            if (figure.series.size() == kMostSeries) {
                figure.not_drawn.push_back(variant.name);
                continue;
            }
            figure.series.push_back(series_of(variant, own, abscissa));
            styles.give(variant, figure.series.back());
        }
        if (!figure.series.empty()) figures.push_back(std::move(figure));
    }
    return figures;
}

Table figure_table(const Figure& figure) {
    Table table;
    table.caption = figure.title + ": points of the lines above";
    table.columns = {{"row", Align::left}, {figure.x_title}, {"mean over seeds"}, {"least"}, {"greatest"}};
    for (const Series& series : figure.series) {
        const std::size_t n = series.points.size(), rows = std::min(n, kTablePoints);
        for (std::size_t i = 0; i < rows; ++i) {
            const CurvePoint& point = series.points[rows == 1 ? 0 : i * (n - 1) / (rows - 1)];
            table.rows.push_back({series.name, Cell(si(point.x), point.x), Cell(score(point.y), point.y),
                                  Cell(score(point.low), point.low), Cell(score(point.high), point.high)});
        }
    }
    return table;
}

}  // namespace deft::reporting
