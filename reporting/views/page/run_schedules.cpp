#include "reporting/views/page/run_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"
#include "reporting/numbers.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

using journal::TrainPoint;
using results_db::TrialCurve;

constexpr std::size_t kMostMaps = 8;
constexpr std::size_t kRuns = 60;  // of logged steps, in a map

// A recipe's row at its largest budget, with the seed that represents it.
struct ShownRow {
    const Row* measured = nullptr;
    const Trial* trial = nullptr;
    const TrialCurve* curve = nullptr;
};

std::optional<ShownRow> shown_row(const Row& row, const Curves& curves) {
    for (const Trial* trial : row.ok)
        if (const auto found = curves.find(trial->config_hash); found != curves.end() && !found->second.points.empty())
            return ShownRow{&row, trial, &found->second};
    return std::nullopt;
}

// In the order of the recipes.
std::vector<ShownRow> shown_rows(const std::vector<Row>& rows, const Curves& curves) {
    std::vector<ShownRow> shown;
    std::map<std::string, std::size_t> places;
    for (const Row& row : rows) {
        const std::optional<ShownRow> one = shown_row(row, curves);
        if (!one) continue;
        const std::string key = row.recipe + "|" + row.axes.others_text();
        const auto [place, is_new] = places.try_emplace(key, shown.size());
        if (is_new)
            shown.push_back(*one);
        else if (row.axes.budget_fraction > shown[place->second].measured->axes.budget_fraction)
            shown[place->second] = *one;
    }
    return shown;
}

bool contains(const std::vector<std::int64_t>& values, std::int64_t wanted) {
    return std::find(values.begin(), values.end(), wanted) != values.end();
}

// A layer that drops none takes the whole sample.
double taken(const TrainPoint& point, bool drops) {
    return static_cast<double>(drops ? std::min(point.kept_tokens, point.seqlen) : point.seqlen);
}

HeatRow layer_row(std::int64_t layer, bool drops, const std::vector<TrainPoint>& points, std::size_t runs) {
    HeatRow row;
    row.name = fmt::format("{}", layer);
    for (std::size_t run = 0; run < runs; ++run) {
        const std::size_t begin = run * points.size() / runs, end = (run + 1) * points.size() / runs;
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += taken(points[i], drops);
        row.cells.push_back(sum / static_cast<double>(end - begin));
    }
    const std::string first = si(taken(points.front(), drops)), last = si(taken(points.back(), drops));
    row.aside = first == last ? last : first + " to " + last;
    return row;
}

HeatMap kept_map(const ShownRow& row, const Settings& settings) {
    const std::vector<TrainPoint>& points = row.curve->points;
    const std::size_t runs = std::min(kRuns, points.size());
    HeatMap map;
    map.title = "Tokens that each layer takes: " + series_name(*row.measured);
    map.id = "kept-" + html_id(series_name(*row.measured));
    map.x_title = "training step, the last of a cell";
    map.y_title = "layer";
    map.value_title = "tokens of a sample that a layer takes";
    map.text = si;
    map.to = 1;
    for (std::int64_t layer = 0; layer < *settings.layers; ++layer) {
        map.rows.push_back(layer_row(layer, contains(settings.dropping_layers, layer), points, runs));
        for (const double value : map.rows.back().cells) map.to = std::max(map.to, value);
    }
    for (std::size_t run = 0; run < runs; ++run)
        map.columns.push_back(fmt::format("{}", points[(run + 1) * points.size() / runs - 1].step));
    return map;
}

// Only where a length begins and where it ends: between two changes it is the same.
std::vector<CurvePoint> length_points(const std::vector<TrainPoint>& points) {
    std::vector<CurvePoint> kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const bool is_inner = i > 0 && i + 1 < points.size() && points[i - 1].seqlen == points[i].seqlen &&
                              points[i + 1].seqlen == points[i].seqlen;
        const auto length = static_cast<double>(points[i].seqlen);
        if (!is_inner) kept.push_back({static_cast<double>(points[i].step), length, length, length});
    }
    return decimate(kept, kMostDrawnPoints);
}

}  // namespace

std::vector<Figure> length_figures(const std::vector<Row>& rows, const Curves& curves) {
    const RecipeStyles styles(rows);
    Figure figure;
    figure.id = "run-length";
    figure.title = "Length of a sample by step";
    figure.x_title = "step";
    figure.y_title = "tokens";
    figure.schedule = true;
    figure.words = "How long the samples of a step were. Lines that lie on each other are alike.";
    bool changes = false;
    for (const ShownRow& row : shown_rows(rows, curves)) {
        if (figure.series.size() == kMostSeries) {
            figure.not_drawn.push_back(row.measured->name);
            continue;
        }
        Series series;
        series.name = series_name(*row.measured);
        series.seeds = 1;
        series.points = length_points(row.curve->points);
        for (const CurvePoint& point : series.points) changes = changes || point.y != series.points.front().y;
        styles.give(*row.measured, series);
        series.dash = series.style;  // schedules of several recipes lie on each other, and show through
        figure.series.push_back(std::move(series));
    }
    if (!changes) return {};
    return {std::move(figure)};
}

std::vector<HeatMap> kept_maps(const std::vector<Row>& rows, const Curves& curves) {
    std::vector<HeatMap> maps;
    for (const ShownRow& row : shown_rows(rows, curves)) {
        const Settings& settings = row.trial->settings;
        if (settings.layers && !settings.dropping_layers.empty() && maps.size() < kMostMaps)
            maps.push_back(kept_map(row, settings));
    }
    return maps;
}

std::string schedules_html(const std::vector<Row>& rows, const Curves& curves, const std::string& id,
                           const std::string& suffix) {
    std::vector<Figure> figures = length_figures(rows, curves);
    std::vector<HeatMap> maps = kept_maps(rows, curves);
    if (figures.empty() && maps.empty()) return {};
    std::string out = fmt::format(
        "<h2 id=\"schedules{}\">Schedules</h2>\n<p>As the logged steps had them: each recipe at its largest budget, of "
        "which those at "
        "smaller ones are shorter forms.</p>\n",
        id);
    for (Figure& figure : figures) {
        figure.title += suffix;
        figure.id += id;
        out += figure_html(figure);
    }
    for (HeatMap& map : maps) {
        map.title += suffix;
        map.id += id;
        out += heat_map_html(map);
    }
    return out;
}

}  // namespace deft::reporting
