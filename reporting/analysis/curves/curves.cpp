#include "reporting/analysis/curves/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

#include "reporting/numbers.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

using journal::TrainPoint;
using results_db::TrialCurve;

constexpr std::size_t kTablePoints = 12;

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

}  // namespace

const TrainPoint* newest_point(const TrialCurve& curve, std::int64_t step) {
    const auto after =
        std::upper_bound(curve.points.begin(), curve.points.end(), step,
                         [](std::int64_t wanted, const TrainPoint& point) { return wanted < point.step; });
    return after == curve.points.begin() ? nullptr : &*(after - 1);
}

Series loss_series(const Row& row, const std::vector<const TrialCurve*>& seeds, const Abscissa& abscissa) {
    Series series;
    series.name = series_name(row);
    series.seeds = seeds.size();
    std::map<std::int64_t, Gathered> losses, validation;
    for (const TrialCurve* curve : seeds) {
        for (const TrainPoint& point : curve->points) losses[point.step].add(abscissa.value(point), point.loss);
        for (const auto& [step, loss] : curve->validation_losses) {
            const TrainPoint* point = newest_point(*curve, step);
            validation[step].add(point == nullptr ? 0 : abscissa.value(*point), loss);
        }
    }
    take_points(losses, series.seeds, series.points, series.not_finite);
    take_points(validation, series.seeds, series.marks, series.not_finite);
    series.points = decimate(series.points, kMostDrawnPoints);
    return series;
}

std::vector<Figure> curve_figures(const std::vector<Row>& rows, const Curves& curves) {
    std::vector<Figure> figures;
    const RecipeStyles styles(rows);
    for (const Abscissa& abscissa : {kByLayerTokens, kByInputTokens, kByFlops}) {
        Figure figure;
        figure.id = std::string("loss-") + abscissa.id;
        figure.title = fmt::format("Training loss by {}", abscissa.name);
        figure.x_title = abscissa.name;
        figure.y_title = "Training loss (nats)";
        for (const Row& row : rows) {
            const std::vector<const TrialCurve*> own = curves_with(&TrialCurve::points, row, curves);
            if (own.empty()) continue;
            if (figure.series.size() == kMostSeries) {
                figure.not_drawn.push_back(row.name);
                continue;
            }
            figure.series.push_back(loss_series(row, own, abscissa));
            styles.give(row, figure.series.back());
        }
        if (!figure.series.empty()) figures.push_back(std::move(figure));
    }
    return figures;
}

std::optional<Figure> running_figure(const Results& sweep, const Curves& curves) {
    Figure figure;
    figure.id = "running-by-step";
    figure.title = "Training loss of the trials that train now";
    figure.x_title = "step";
    figure.y_title = "Training loss (nats)";
    for (const Trial& trial : sweep.trials) {
        const auto found = trial.state == "running" ? curves.find(trial.config_hash) : curves.end();
        if (found == curves.end()) continue;
        Series series;
        series.name = results_db::trial_name(trial);
        series.style = figure.series.size();
        series.seeds = 1;
        for (const TrainPoint& point : found->second.points)
            if (std::isfinite(point.loss))
                series.points.push_back({static_cast<double>(point.step), point.loss, point.loss, point.loss});
        if (series.points.empty()) continue;
        series.points = decimate(series.points, kMostDrawnPoints);
        if (figure.series.size() < kMostSeries)
            figure.series.push_back(std::move(series));
        else
            figure.not_drawn.push_back(series.name);
    }
    if (figure.series.empty()) return std::nullopt;
    return figure;
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

namespace {

CurvePoint widened(CurvePoint point, double low, double high) {
    point.low = low;
    point.high = high;
    return point;
}

void keep_extremes(const CurvePoint* begin, const CurvePoint* end, std::vector<CurvePoint>& kept) {
    const auto by_y = [](const CurvePoint& a, const CurvePoint& b) { return a.y < b.y; };
    const auto [least, most] = std::minmax_element(begin, end, by_y);
    double low = begin->low, high = begin->high;
    for (const CurvePoint* point = begin; point != end; ++point) {
        low = std::min(low, point->low);
        high = std::max(high, point->high);
    }
    kept.push_back(widened(*std::min(least, most), low, high));
    if (least != most) kept.push_back(widened(*std::max(least, most), low, high));
}

}  // namespace

std::vector<CurvePoint> decimate(const std::vector<CurvePoint>& points, std::size_t most) {
    if (points.size() <= most || most < 4) return points;
    const std::size_t inner = points.size() - 2, runs = (most - 2) / 2;
    std::vector<CurvePoint> kept = {points.front()};
    for (std::size_t run = 0; run < runs; ++run)
        keep_extremes(points.data() + 1 + inner * run / runs, points.data() + 1 + inner * (run + 1) / runs, kept);
    kept.push_back(points.back());
    return kept;
}

namespace {

std::string axes_key(const Row& row) {
    return fmt::format("{}|{}", row.axes.budget_fraction, row.axes.others_text());
}

}  // namespace

std::string series_name(const Row& row) {
    std::string name = row.recipe;
    if (row.axes.has_budget) name += " " + row.axes.budget_text();
    if (const std::string others = row.axes.others_text(); !others.empty()) name += " " + others;
    return name;
}

RecipeStyles::RecipeStyles(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        of_recipe_.try_emplace(row.recipe, of_recipe_.size());
        of_axes_.try_emplace(axes_key(row), of_axes_.size());
    }
}

void RecipeStyles::give(const Row& row, Series& series) const {
    series.style = of_recipe_.at(row.recipe);
    series.dash = of_axes_.at(axes_key(row));
}

namespace {

using results_db::SamplingPoint;

// The mean over seeds at each step that all of them have, with the least and the greatest.
std::vector<CurvePoint> pools_of(const std::vector<const TrialCurve*>& curves) {
    std::map<std::int64_t, std::vector<double>> by_step;
    for (const TrialCurve* curve : curves)
        for (const SamplingPoint& point : curve->sampling)
            by_step[point.step].push_back(static_cast<double>(point.pool));
    std::vector<CurvePoint> points;
    for (const auto& [step, pools] : by_step) {
        if (pools.size() != curves.size()) continue;
        const auto [least, most] = std::minmax_element(pools.begin(), pools.end());
        points.push_back({static_cast<double>(step), mean(pools), *least, *most});
    }
    return points;
}

bool changes(const std::vector<CurvePoint>& points) {
    return std::any_of(points.begin(), points.end(),
                       [&](const CurvePoint& point) { return point.y != points.front().y; });
}

template <class Value>
Cell mean_cell(const std::vector<const TrialCurve*>& curves, const Value& value, std::string (*print)(double)) {
    std::vector<double> values;
    for (const TrialCurve* curve : curves)
        if (const std::optional<double> one = value(*curve)) values.push_back(*one);
    if (values.size() != curves.size()) return "-";
    Cell cell(print(mean(values)), mean(values));
    if (values.size() > 1) cell.spread = standard_deviation(values);
    return cell;
}

std::string epochs_text(double value) {
    return fmt::format("{:.2f}", value);
}

std::size_t parts_of(const std::vector<Row>& rows, const Curves& curves) {
    std::size_t parts = 0;
    for (const Row& row : rows)
        for (const TrialCurve* curve : curves_with(&TrialCurve::sampling, row, curves))
            parts = std::max(parts, curve->epochs.size());
    return parts;
}

}  // namespace

std::vector<Figure> pool_figures(const std::vector<Row>& rows, const Curves& curves) {
    Figure figure;
    figure.id = "sampling-pool";
    figure.title = "Samples admitted by step";
    figure.x_title = "step";
    figure.y_title = "samples";
    figure.schedule = true;
    RecipeStyles styles(rows);
    bool any_change = false;
    for (const Row& row : rows) {
        const std::vector<const TrialCurve*> own = curves_with(&TrialCurve::sampling, row, curves);
        if (own.empty()) continue;
        if (figure.series.size() == kMostSeries) {
            figure.not_drawn.push_back(row.name);
            continue;
        }
        Series series;
        series.name = series_name(row);
        series.seeds = own.size();
        series.points = pools_of(own);
        any_change = any_change || changes(series.points);
        styles.give(row, series);
        figure.series.push_back(std::move(series));
    }
    if (!any_change) return {};
    return {std::move(figure)};
}

Table draws_table(const std::vector<Row>& rows, const Curves& curves) {
    Table table;
    table.caption = "What was drawn from the training samples by the last step, means over seeds";
    table.columns = {{"row", Align::left},       {"samples\nadmitted"}, {"samples\ndrawn"},
                     {"of these\ndrawn before"}, {"tokens\ncut"},       {"tokens\npadded"}};
    const std::size_t parts = parts_of(rows, curves);
    for (std::size_t part = 0; part < parts; ++part)
        table.columns.push_back({part == 0           ? std::string("epochs of\nthe easiest")
                                 : part + 1 == parts ? std::string("of the\nhardest")
                                                     : fmt::format("part\n{}", part + 1)});
    const auto last = [](std::int64_t SamplingPoint::*member) {
        return [member](const TrialCurve& curve) {
            return std::optional<double>(static_cast<double>(curve.sampling.back().*member));
        };
    };
    for (const Row& row : rows) {
        const std::vector<const TrialCurve*> own = curves_with(&TrialCurve::sampling, row, curves);
        if (own.empty()) continue;
        std::vector<Cell>& cells = table.rows.emplace_back();
        cells.emplace_back(series_name(row));
        for (const auto member : {&SamplingPoint::pool, &SamplingPoint::drawn, &SamplingPoint::repeated,
                                  &SamplingPoint::cut_tokens, &SamplingPoint::padded_tokens})
            cells.push_back(mean_cell(own, last(member), si));
        for (std::size_t part = 0; part < parts; ++part)
            cells.push_back(mean_cell(
                own,
                [part](const TrialCurve& curve) {
                    return part < curve.epochs.size() ? std::optional(curve.epochs[part]) : std::nullopt;
                },
                epochs_text));
    }
    if (parts > 1)
        table.notes.push_back(fmt::format(
            "Epochs: how often a sample was drawn, of each of {} equal parts of the samples in the order in which a "
            "curriculum admits them.",
            parts));
    return table;
}

}  // namespace deft::reporting
