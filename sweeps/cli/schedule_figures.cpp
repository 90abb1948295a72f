#include "sweeps/cli/schedule_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "engine/train/accounting.h"
#include "experiments/engine_config.h"
#include "reporting/axes.h"

namespace deft::sweeps {

namespace {

using reporting::Figure;
using reporting::Series;

constexpr std::size_t kMostSeries = 12;  // that a reader can tell apart
constexpr std::int64_t kMostPoints = 400;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// One step of one row's schedule.
struct Moment {
    engine::StepPlan plan;
    bool routed = false;  // some layers take kept tokens only
    double learning_rate = 0;
    std::map<std::string, double> difficulty;  // by metric
};

struct Schedule {
    std::string name;
    std::size_t style = 0, dash = 0;
    std::vector<std::pair<std::int64_t, Moment>> moments;  // by step, from 1
};

std::vector<std::pair<std::int64_t, Moment>> moments_of(const experiments::TrialConfig& config, std::int64_t steps) {
    const engine::TrainerConfig trainer = experiments::trainer_config(config);
    const std::map<std::string, engine::Pacing> difficulties = experiments::difficulty_pacings(config);
    const std::int64_t every = std::max<std::int64_t>(1, steps / kMostPoints);
    std::vector<std::pair<std::int64_t, Moment>> moments;
    engine::Counts counts;
    while (counts.steps < steps) {
        const std::int64_t step = counts.steps;
        const engine::StepPlan plan = engine::plan_step(trainer.techniques, step, trainer.batch_size);
        if (step % every == 0 || step + 1 == steps) {
            Moment moment;
            moment.plan = plan;
            moment.routed = trainer.techniques.routing.has_value();
            moment.learning_rate =
                plan.learning_rate_scale * engine::learning_rate_at(trainer.learning_rate, counts.layer_tokens);
            for (const auto& [metric, pacing] : difficulties)
                moment.difficulty[metric] = static_cast<double>(engine::paced_value(pacing, step + 1));
            moments.emplace_back(step + 1, std::move(moment));
        }
        engine::advance(counts, trainer.model, trainer.techniques, plan);
    }
    return moments;
}

std::vector<Schedule> schedules_of(const std::vector<PlanRow>& rows) {
    std::vector<Schedule> schedules;
    std::vector<std::string> cases;
    std::map<std::string, std::size_t> seen;
    for (const PlanRow& row : rows) {
        const auto found = std::find(cases.begin(), cases.end(), row.point.case_name);
        Schedule schedule;
        schedule.style = static_cast<std::size_t>(found - cases.begin());
        if (found == cases.end()) cases.push_back(row.point.case_name);
        schedule.dash = seen[row.point.case_name]++;
        const reporting::Axes axes = reporting::parse_axes(row.point.axes.dump());
        schedule.name = row.point.case_name;
        if (axes.has_budget) schedule.name += " " + axes.budget_text();
        if (!axes.others.empty()) schedule.name += " " + axes.others_text();
        schedule.moments = moments_of(row.point.config, row.point.projection.steps);
        schedules.push_back(std::move(schedule));
    }
    return schedules;
}

// What the difficulties of that metric are, over all rows.
std::string unit_of(const std::vector<PlanRow>& rows, const std::string& metric) {
    std::set<std::string> kinds;
    for (const PlanRow& row : rows)
        if (const auto& curriculum = row.point.config.curriculum)
            if (const experiments::CurriculumMetric* found = curriculum->find(metric)) kinds.insert(found->difficulty);
    if (kinds.size() > 1) return "percent of the samples, or value";
    return *kinds.begin() == "percentile" ? "percent of the samples" : "value";
}

// Appends the figure if the quantity changes anywhere; `value` gives NaN where a schedule has no such quantity.
void add_figure(std::vector<Figure>& figures, const std::vector<Schedule>& schedules, Figure figure,
                const std::function<double(const Moment&)>& value) {
    bool changes = false;
    figure.x_title = "step";
    for (const Schedule& schedule : schedules) {
        Series series{schedule.name, schedule.style, schedule.dash, 1, {}, {}, 0};
        for (const auto& [step, moment] : schedule.moments)
            if (const double y = value(moment); y == y) series.points.push_back({static_cast<double>(step), y, y, y});
        if (series.points.empty()) continue;
        for (const reporting::CurvePoint& point : series.points) changes |= point.y != series.points.front().y;
        if (figure.series.size() < kMostSeries)
            figure.series.push_back(std::move(series));
        else
            figure.not_drawn.push_back(schedule.name);
    }
    if (changes) figures.push_back(std::move(figure));
}

}  // namespace

std::vector<Figure> schedule_figures(const std::vector<PlanRow>& rows) {
    const std::vector<Schedule> schedules = schedules_of(rows);
    std::set<std::string> metrics;
    for (const Schedule& schedule : schedules)
        for (const auto& [metric, difficulty] : schedule.moments.front().second.difficulty) metrics.insert(metric);

    std::vector<Figure> figures;
    const auto of_plan = [](std::int64_t engine::StepPlan::*member) {
        return [member](const Moment& moment) { return static_cast<double>(moment.plan.*member); };
    };
    add_figure(figures, schedules, {"length", "Length", "", "tokens a row", {}, {}, true}, of_plan(&engine::StepPlan::seqlen));
    add_figure(figures, schedules, {"kept", "Kept tokens of the routed layers", "", "tokens a row", {}, {}, true},
               [](const Moment& moment) { return moment.routed ? static_cast<double>(moment.plan.kept) : kNone; });
    add_figure(figures, schedules, {"samples", "Samples of a step", "", "samples", {}, {}, true},
               of_plan(&engine::StepPlan::samples));
    for (const std::string& metric : metrics)
        add_figure(
            figures, schedules,
            {"difficulty-" + metric, "Difficulty admitted by " + metric, "", unit_of(rows, metric), {}, {}, true},
            [&](const Moment& moment) {
                const auto found = moment.difficulty.find(metric);
                return found == moment.difficulty.end() ? kNone : found->second;
            });
    add_figure(figures, schedules, {"learning-rate", "Learning rate", "", "rate", {}, {}, true},
               [](const Moment& moment) { return moment.learning_rate; });
    return figures;
}

}  // namespace deft::sweeps
