#include "reporting/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "reporting/case_styles.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using results_db::SamplingPoint;
using results_db::TrialCurve;

constexpr std::size_t kMostSeries = 12;

std::vector<const TrialCurve*> sampled_curves(const Variant& variant, const Curves& curves) {
    std::vector<const TrialCurve*> out;
    for (const results_db::TrialRow* trial : variant.ok)
        if (const auto found = curves.find(trial->config_hash);
            found != curves.end() && !found->second.sampling.empty())
            out.push_back(&found->second);
    return out;
}

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

std::size_t parts_of(const std::vector<Variant>& variants, const Curves& curves) {
    std::size_t parts = 0;
    for (const Variant& variant : variants)
        for (const TrialCurve* curve : sampled_curves(variant, curves)) parts = std::max(parts, curve->epochs.size());
    return parts;
}

}  // namespace

std::vector<Figure> pool_figures(const std::vector<Variant>& variants, const Curves& curves) {
    Figure figure;
    figure.id = "sampling-pool";
    figure.title = "Samples admitted by step";
    figure.x_title = "step";
    figure.y_title = "samples";
    figure.schedule = true;
    CaseStyles styles(variants);
    bool any_change = false;
    for (const Variant& variant : variants) {
        const std::vector<const TrialCurve*> own = sampled_curves(variant, curves);
        if (own.empty()) continue;
        if (figure.series.size() == kMostSeries) {
            figure.not_drawn.push_back(variant.name);
            continue;
        }
        Series series;
        series.name = series_name(variant);
        series.seeds = own.size();
        series.points = pools_of(own);
        any_change = any_change || changes(series.points);
        styles.give(variant, series);
        figure.series.push_back(std::move(series));
    }
    if (!any_change) return {};
    return {std::move(figure)};
}

Table draws_table(const std::vector<Variant>& variants, const Curves& curves) {
    Table table;
    table.caption = "What was drawn from the training samples by the last step, means over seeds";
    table.columns = {{"row", Align::left},       {"samples\nadmitted"}, {"samples\ndrawn"},
                     {"of these\ndrawn before"}, {"tokens\ncut"},       {"tokens\npadded"}};
    const std::size_t parts = parts_of(variants, curves);
    for (std::size_t part = 0; part < parts; ++part)
        table.columns.push_back({part == 0           ? std::string("epochs of\nthe easiest")
                                 : part + 1 == parts ? std::string("of the\nhardest")
                                                     : fmt::format("part\n{}", part + 1)});
    const auto last = [](std::int64_t SamplingPoint::*member) {
        return [member](const TrialCurve& curve) {
            return std::optional<double>(static_cast<double>(curve.sampling.back().*member));
        };
    };
    for (const Variant& variant : variants) {
        const std::vector<const TrialCurve*> own = sampled_curves(variant, curves);
        if (own.empty()) continue;
        std::vector<Cell>& row = table.rows.emplace_back();
        row.emplace_back(series_name(variant));
        for (const auto member : {&SamplingPoint::pool, &SamplingPoint::drawn, &SamplingPoint::repeated,
                                  &SamplingPoint::cut_tokens, &SamplingPoint::padded_tokens})
            row.push_back(mean_cell(own, last(member), si));
        for (std::size_t part = 0; part < parts; ++part)
            row.push_back(mean_cell(
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
