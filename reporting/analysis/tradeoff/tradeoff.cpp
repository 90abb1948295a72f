#include "reporting/analysis/tradeoff/tradeoff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/json.h"
#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/cost/comparable_seconds.h"
#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/analysis/tradeoff/quality_measure.h"
#include "reporting/numbers.h"
#include "results_db/row_name.h"

namespace deft::reporting {

namespace {

constexpr const char* kQualityColumn = "quality";  // of a published table: percent of the baseline's
constexpr const char* kSavingColumn = "saving";    // how many times less of data, time and cost

std::string line_name(const Row& row) {
    const std::string others = row.axes.others_text();
    return others.empty() ? row.recipe : row.recipe + " " + others;
}

std::string point_name(const Row& row) {
    return line_name(row) + " at " + row.axes.budget_text();
}

const Resource& resource_of(const CostAxis& axis) {
    for (const Resource& resource : resources())
        if (std::string(resource.quantity) == axis.quantity) return resource;
    std::abort();  // kCostAxes names resources that are there
}

TradeoffPoint point_of(const Row& row, const Row& reference, const QualityMeasure& measure, const QualityScale& scale) {
    TradeoffPoint point;
    point.name = point_name(row);
    point.budget = row.axes.budget_fraction;
    point.flag = not_measured(row);
    const std::vector<double> values = quality_values(measure, row);
    point.seeds = values.size();
    point.asked = unit_count(row.trials);
    point.quality = mean(values);
    point.interval = mean_interval(values);
    point.relative = relative_quality(values, scale);
    for (std::size_t i = 0; i < kCostAxes.size(); ++i)
        if (const auto cost = mean_of(row, resource_of(kCostAxes[i]));
            cost && *cost > 0 && std::isfinite(*cost) &&
            (!resource_of(kCostAxes[i]).from_seconds || seconds_compare(row, reference) == SecondsCompare::yes))
            point.cost[i] = cost;
    return point;
}

// Why a row has no place in the picture; empty: it has one.
std::string why_not(const Row& row, const QualityMeasure& measure) {
    const std::vector<double> values = quality_values(measure, row);
    if (row.ok.empty()) return "no seed has finished";
    if (row.ok.front()->settings.has_start) return "they go on from other models, whose cost is not theirs";
    if (values.empty()) return "they have no such score";
    if (diverged_trials(row) > 0 || !all_finite(values)) return "a seed diverged";
    if (!stale_value(measure.quantity, row).empty()) return "they are stale";
    return {};
}

std::string share_definition(const QualityMeasure& measure, const QualityScale& scale, const NothingLearnt& nothing) {
    return fmt::format(
        "A row's share is its gain over {0}, {1}, divided by the baseline's gain on all of the data: {0} scores {2} "
        "{3} "
        "(0%), that baseline {4} (100%).",
        nothing.words, nothing.definition, score(nothing.value), measure.title, score(mean(scale.baseline)));
}

std::optional<PublishedTradeoff> published_of(const SweepAbout& about) {
    if (!about.published) return std::nullopt;
    for (const PublishedRow& row : about.published->rows) {
        const PublishedCell *quality = row.find(kQualityColumn), *saving = row.find(kSavingColumn);
        if (quality == nullptr || saving == nullptr || !(saving->number.value > 0)) continue;
        return PublishedTradeoff{row.name(), about.published->source, about.published->scale,
                                 quality->number.value / 100, saving->number.value};
    }
    return std::nullopt;
}

// The lines in the sweep's order; what has no place in them is noted.
std::vector<TradeoffLine> lines_of(const std::vector<Row>& rows, const Row& reference, const std::string& base_recipe,
                                   const QualityMeasure& measure, Tradeoff& tradeoff) {
    const RecipeStyles styles(rows);
    const References references(rows, base_recipe);
    std::vector<TradeoffLine> lines;
    std::map<std::string, std::size_t> places, rows_of_line;
    std::map<std::string, std::vector<std::string>> left_out, flagged;  // by reason
    std::vector<std::string> without_time;
    for (const Row& row : rows) {
        if (is_imported(row) || !row.axes.has_budget) continue;
        ++rows_of_line[line_name(row)];
        const bool has_reference = &references.of(row) == &reference;
        const std::string why = has_reference ? why_not(row, measure) : "their baseline is another row";
        if (!why.empty()) {
            left_out[why].push_back(point_name(row));
            continue;
        }
        const auto [place, is_new] = places.try_emplace(line_name(row), lines.size());
        if (is_new) {
            Series looks;
            styles.give(row, looks);
            lines.push_back({line_name(row), row.recipe == base_recipe, looks.style, lines.size(), {}});
        }
        lines[place->second].points.push_back(&row == &reference ? tradeoff.reference
                                                                 : point_of(row, reference, measure, tradeoff.scale));
        if (const std::string flag = not_measured(row); !flag.empty()) flagged[flag].push_back(point_name(row));
        if (seconds_compare(row, reference) != SecondsCompare::yes) without_time.push_back(point_name(row));
    }
    for (TradeoffLine& line : lines) {
        line.rows = rows_of_line[line.name];
        std::stable_sort(line.points.begin(), line.points.end(),
                         [](const TradeoffPoint& a, const TradeoffPoint& b) { return a.budget < b.budget; });
    }
    for (const auto& [why, names] : left_out)
        tradeoff.notes.push_back(fmt::format("Not drawn, for {}: {}.", why, fmt::join(names, ", ")));
    for (const auto& [why, names] : flagged)
        tradeoff.notes.push_back(fmt::format(
            "† In grey, and in no sentence, for they do not count as measured: {}: {}.", fmt::join(names, ", "), why));
    if (!without_time.empty())
        tradeoff.notes.push_back(fmt::format(
            "No time and no dollars, for workers of another shape than the baseline's or for trials that were "
            "trained under different CPU contention: {}.",
            fmt::join(without_time, ", ")));
    return lines;
}

// The difference of each point but the baseline's own to the baseline's row at the same budget, where that counts as
// measured.
void add_differences(const std::vector<Row>& rows, const QualityMeasure& measure, std::vector<TradeoffLine>& lines) {
    const auto base = std::find_if(lines.begin(), lines.end(), [](const TradeoffLine& one) { return one.is_baseline; });
    if (base == lines.end()) return;
    std::map<std::string, const Row*> by_name;
    for (const Row& row : rows) by_name.emplace(point_name(row), &row);
    for (TradeoffLine& line : lines) {
        if (line.is_baseline) continue;
        for (TradeoffPoint& point : line.points) {
            const TradeoffPoint* alone = base->at_budget(point.budget);
            if (alone == nullptr || !alone->counts()) continue;
            point.difference = quality_difference(quality_values(measure, *by_name.at(point.name)),
                                                  quality_values(measure, *by_name.at(alone->name)));
        }
    }
}

// How many recipes are trained at two budgets or more.
std::size_t recipes_of_several_budgets(const std::vector<TradeoffLine>& lines) {
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [](const TradeoffLine& line) { return line.points.size() > 1; }));
}

}  // namespace

const TradeoffPoint* TradeoffLine::at_budget(double wanted) const {
    for (const TradeoffPoint& point : points)
        if (results_db::same_budget(point.budget, wanted)) return &point;
    return nullptr;
}

std::size_t TradeoffLine::counting() const {
    return static_cast<std::size_t>(
        std::count_if(points.begin(), points.end(), [](const TradeoffPoint& point) { return point.counts(); }));
}

std::optional<Tradeoff> tradeoff_of(const Results& sweep, const SweepAbout& about) {
    const std::vector<Row> rows = rows_of(sweep);
    if (rows.empty()) return std::nullopt;
    const std::optional<QualityMeasure> measure = quality_measure(rows, sweep, about);
    if (!measure) return std::nullopt;
    const std::string base_recipe = baseline_recipe(rows, about.baseline, sweep.name);
    const auto base = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.recipe == base_recipe; });
    const Row& reference = reference_of(rows, base_recipe, *base);
    const bool has_place = reference.axes.has_budget && why_not(reference, *measure).empty();
    if (!has_place || !not_measured(reference).empty()) return std::nullopt;

    Tradeoff tradeoff;
    tradeoff.title = measure->title;
    const std::optional<NothingLearnt> nothing = nothing_learnt(*measure, reference);
    tradeoff.scale = {measure->improves, nothing ? std::optional(nothing->value) : std::nullopt,
                      quality_values(*measure, reference)};
    tradeoff.reference = point_of(reference, reference, *measure, tradeoff.scale);
    if (nothing && !tradeoff.reference.relative) return std::nullopt;
    if (nothing) {
        tradeoff.nothing = nothing->words;
        tradeoff.definition = share_definition(*measure, tradeoff.scale, *nothing);
        tradeoff.reference.relative->interval.reset();
    }
    tradeoff.lines = lines_of(rows, reference, base_recipe, *measure, tradeoff);
    if (recipes_of_several_budgets(tradeoff.lines) < 2) return std::nullopt;
    add_differences(rows, *measure, tradeoff.lines);
    tradeoff.published = published_of(about);
    for (std::size_t i = 0; i < kCostAxes.size(); ++i)
        if (!has_cost(tradeoff, i))
            tradeoff.notes.push_back(std::string("No chart by ") + kCostAxes[i].title +
                                     (std::string(kCostAxes[i].quantity) == "cost usd"
                                          ? ": no price was set ([price] in the sweep file)."
                                          : ": no recipe has it at two budgets that compare."));
    return tradeoff;
}

bool has_cost(const Tradeoff& tradeoff, std::size_t axis) {
    return std::any_of(tradeoff.lines.begin(), tradeoff.lines.end(), [&](const TradeoffLine& line) {
        return std::count_if(line.points.begin(), line.points.end(),
                             [&](const TradeoffPoint& point) { return point.cost[axis].has_value(); }) > 1;
    });
}

std::optional<double> cost_share(const Tradeoff& tradeoff, const TradeoffPoint& point, std::size_t axis) {
    if (!point.cost[axis] || !tradeoff.reference.cost[axis]) return std::nullopt;
    return *point.cost[axis] / *tradeoff.reference.cost[axis];
}

}  // namespace deft::reporting
