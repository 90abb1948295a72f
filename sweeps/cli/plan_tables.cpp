#include "sweeps/cli/plan_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/json.h"
#include "engine/train/accounting.h"
#include "experiments/engine_config.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/numbers.h"

namespace deft::cli {

namespace {

using reporting::Align;
using reporting::Cell;
using reporting::Figure;
using reporting::Series;

// ---- the plan
// ----------------------------------------------------------------------------------------------------------

std::string or_dash(const std::string& text) {
    return text.empty() ? "-" : text;
}

void drop_column(reporting::Table& table, std::size_t column) {
    const auto at = static_cast<std::ptrdiff_t>(column);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
    if (column < table.key_columns) --table.key_columns;
}

std::string hours_text(const std::optional<double>& hours) {
    return hours ? fmt::format("{:.1f}", *hours) : "-";
}

// In front of all others, of a sweep with stages.
void add_stage_column(reporting::Table& table, const sweeps::Plan& plan) {
    if (plan.rows.empty() || plan.rows.front().trial.stage.empty()) return;
    table.columns.insert(table.columns.begin(), {"stage", Align::left});
    ++table.key_columns;
    for (std::size_t i = 0; i < plan.rows.size(); ++i)
        table.rows[i].insert(table.rows[i].begin(), plan.rows[i].trial.stage);
}

// The columns that a device adds, after those that every plan has.
void add_device_columns(reporting::Table& table, const sweeps::Plan& plan) {
    table.columns.push_back({"hours\na seed"});
    table.columns.push_back({plan.price && plan.price->is_implied ? "implied\ncost a seed" : "cost\na seed"});
    for (std::size_t i = 0; i < plan.rows.size(); ++i) {
        table.rows[i].push_back(hours_text(plan.rows[i].hours));
        table.rows[i].push_back(plan.rows[i].dollars ? reporting::dollars(*plan.rows[i].dollars) : "-");
    }
}

// ---- draws
// -------------------------------------------------------------------------------------------------------------

bool any_bert(const std::vector<sweeps::PlanRow>& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const sweeps::PlanRow& row) {
        return row.trial.config.data.samples == experiments::SampleKind::bert;
    });
}

// A share of the tokens of all rows.
std::string percent(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? fmt::format("{:.1f}%", 100 * static_cast<double>(part) / static_cast<double>(whole)) : "-";
}

// ---- schedules
// ---------------------------------------------------------------------------------------------------------

constexpr std::size_t kMostSeries = 12;  // that a reader can distinguish
constexpr std::int64_t kMostTrials = 400;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// One step of one row's schedule.
struct Moment {
    engine::StepPlan plan;
    bool drops = false;  // some layers take kept tokens only
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
    const std::int64_t every = std::max<std::int64_t>(1, steps / kMostTrials);
    std::vector<std::pair<std::int64_t, Moment>> moments;
    const engine::ModelFlops flops = engine::model_size(trainer.model).flops;
    engine::Counts counts;
    while (counts.steps < steps) {
        const std::int64_t step = counts.steps;
        const engine::StepPlan plan = engine::plan_step(trainer, step);
        if (step % every == 0 || step + 1 == steps) {
            Moment moment;
            moment.plan = plan;
            moment.drops = trainer.techniques.dropping.has_value();
            moment.learning_rate = plan.learning_rate_scale *
                                   engine::learning_rate_at(trainer.learning_rate, counts.steps, counts.layer_tokens);
            for (const auto& [metric, pacing] : difficulties)
                moment.difficulty[metric] = static_cast<double>(engine::paced_value(pacing, step + 1));
            moments.emplace_back(step + 1, std::move(moment));
        }
        engine::advance(counts, flops, trainer.techniques, plan);
    }
    return moments;
}

std::vector<Schedule> schedules_of(const std::vector<sweeps::PlanRow>& rows) {
    std::vector<Schedule> schedules;
    std::vector<std::string> recipes;
    std::map<std::string, std::size_t> seen;
    for (const sweeps::PlanRow& row : rows) {
        if (!row.trial.projection.has_steps) continue;
        const auto found = std::find(recipes.begin(), recipes.end(), row.trial.recipe);
        Schedule schedule;
        schedule.style = static_cast<std::size_t>(found - recipes.begin());
        if (found == recipes.end()) recipes.push_back(row.trial.recipe);
        schedule.dash = seen[row.trial.recipe]++;
        const reporting::Axes axes = reporting::parse_axes(row.trial.axes.dump());
        schedule.name = row.trial.recipe;
        if (axes.has_budget) schedule.name += " " + axes.budget_text();
        if (!axes.others.empty()) schedule.name += " " + axes.others_text();
        schedule.moments = moments_of(row.trial.config, row.trial.projection.steps);
        schedules.push_back(std::move(schedule));
    }
    return schedules;
}

// The unit of that metric's difficulties, over all rows.
std::string unit_of(const std::vector<sweeps::PlanRow>& rows, const std::string& metric) {
    std::set<experiments::DifficultyUnit> kinds;
    for (const sweeps::PlanRow& row : rows)
        if (const auto& curriculum = row.trial.config.curriculum)
            if (const experiments::CurriculumMetric* found = curriculum->find(metric)) kinds.insert(found->difficulty);
    if (kinds.size() > 1) return "percent of the samples, or value";
    return *kinds.begin() == experiments::DifficultyUnit::percentile ? "percent of the samples" : "value";
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

namespace {

// With experts also those that one token meets.
std::string parameters_text(const experiments::Projection& projection) {
    const std::string all = reporting::si(static_cast<double>(projection.parameters));
    if (projection.active_parameters == projection.parameters) return all;
    return fmt::format("{} ({} active)", all, reporting::si(static_cast<double>(projection.active_parameters)));
}

std::string memory_text(const sweeps::PlanRow& row) {
    const std::string bytes = reporting::binary_bytes(static_cast<double>(row.trial.projection.memory_bytes));
    return row.chose_recompute ? fmt::format("{}, recompute {}", bytes, deft::name_of(row.trial.config.train.recompute))
                               : bytes;
}

}  // namespace

reporting::Table plan_table(const sweeps::Plan& plan) {
    using reporting::si;
    reporting::Table table;
    // The answer first: how much there is to train, how long it takes and what it costs.
    table.caption = fmt::format("Sweep {}, scale: {}", plan.sweep, plan.scale);
    if (!plan.notes.empty()) table.caption += ". " + plan.notes.front();
    table.columns = {{"recipe", Align::left},
                     {"budget"},
                     {"axes", Align::left},
                     {"seeds"},
                     {"steps"},
                     {"parameters"},
                     {"input\ntokens"},
                     {"consumed\ntokens"},
                     {"FLOPs\na seed"},
                     {plan.device ? "memory\na device" : "memory\na seed"}};
    table.key_columns = 3;
    bool any_axis = false;
    for (const sweeps::PlanRow& row : plan.rows) {
        const experiments::Projection& projection = row.trial.projection;
        const bool imported = experiments::is_imported(row.trial.config);
        // An imported model consumes nothing, and that is not a number to compare with the others.
        const auto trained = [&](std::string text) { return imported ? std::string("-") : text; };
        const auto counted = [&](std::string text) {
            return projection.has_steps ? trained(std::move(text)) : "unknown";
        };
        const reporting::Axes axes = reporting::parse_axes(row.trial.axes.dump());
        any_axis = any_axis || !axes.others.empty();
        table.rows.push_back({row.trial.recipe + (imported ? " (imported)" : ""),
                              axes.has_budget ? axes.budget_text() : "-", or_dash(axes.others_text()),
                              trained(std::to_string(row.seeds.size())), counted(std::to_string(projection.steps)),
                              parameters_text(projection), counted(si(static_cast<double>(projection.input_tokens))),
                              counted(si(static_cast<double>(projection.layer_tokens))), counted(si(projection.flops)),
                              memory_text(row)});
    }
    if (plan.device) add_device_columns(table, plan);
    table.columns.push_back({"row hash", Align::left});
    for (std::size_t i = 0; i < plan.rows.size(); ++i)
        table.rows[i].push_back(plan.rows[i].trial.variant_hash.substr(0, 8));
    if (!any_axis) drop_column(table, 2);
    add_stage_column(table, plan);
    if (!plan.notes.empty()) table.notes.assign(plan.notes.begin() + 1, plan.notes.end());
    return table;
}

reporting::Table draws_table(const std::vector<sweeps::PlanRow>& rows,
                             const std::vector<experiments::DrawTotals>& draws) {
    const bool bert = any_bert(rows);
    reporting::Table table;
    table.caption = "What the sampler draws, without training";
    table.columns = {{"trial", Align::left}, {"steps"},       {"samples\ndrawn"},  {"of these\nrepeated"},
                     {"real\ntokens"},       {"cut\ntokens"}, {"padding\ntokens"}, {"padding"}};
    if (bert) table.columns.push_back({"masked\ntokens"});
    table.columns.insert(table.columns.end(), {{"pool at\nstart"}, {"pool at\nend"}});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const experiments::DrawTotals& d = draws[i];
        std::vector<Cell> cells = {rows[i].trial.name(),
                                   std::to_string(d.steps),
                                   std::to_string(d.sampling.drawn),
                                   std::to_string(d.sampling.repeated),
                                   std::to_string(d.tokens),
                                   std::to_string(d.cut_tokens),
                                   std::to_string(d.padding_tokens),
                                   percent(d.padding_tokens, d.tokens + d.padding_tokens)};
        if (bert) cells.push_back(std::to_string(d.masked_tokens));
        cells.push_back(std::to_string(d.first_pool));
        cells.push_back(std::to_string(d.sampling.pool));
        table.rows.push_back(std::move(cells));
    }
    table.notes.push_back("Pool: samples admitted at the first step, and at the last.");
    if (bert)
        table.notes.push_back(
            "BERT samples: real tokens have the special ones among them; a step's rows are as long as"
            " its longest sample, rounded up to a multiple of 8. The budget counts every row at the"
            " length of its step.");
    return table;
}

reporting::Table epochs_table(const std::vector<sweeps::PlanRow>& rows,
                              const std::vector<experiments::DrawTotals>& draws) {
    reporting::Table table;
    table.caption = "Draws a sample, by tenths of the samples in the order of their admission";
    table.columns = {{"trial", Align::left}};
    for (int tenth = 1; tenth <= 10; ++tenth) table.columns.push_back({fmt::format("{}.", tenth)});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<Cell> cells = {rows[i].trial.name()};
        for (const double epochs : draws[i].sampling.epochs) cells.push_back(fmt::format("{:.2f}", epochs));
        table.rows.push_back(std::move(cells));
    }
    table.notes.push_back(
        "The first tenth is the easiest; without a curriculum all samples are admitted at once, and"
        " the tenths are those of their ids.");
    return table;
}

std::vector<Figure> schedule_figures(const std::vector<sweeps::PlanRow>& rows) {
    const std::vector<Schedule> schedules = schedules_of(rows);
    std::set<std::string> metrics;
    for (const Schedule& schedule : schedules)
        for (const auto& [metric, difficulty] : schedule.moments.front().second.difficulty) metrics.insert(metric);

    std::vector<Figure> figures;
    const auto of_plan = [](std::int64_t engine::StepPlan::*member) {
        return [member](const Moment& moment) { return static_cast<double>(moment.plan.*member); };
    };
    add_figure(figures, schedules, {"length", "Length", "", "tokens a row", {}, {}, true},
               of_plan(&engine::StepPlan::seqlen));
    add_figure(figures, schedules,
               {"kept", "Kept tokens of the layers that drop some", "", "tokens a row", {}, {}, true},
               [](const Moment& moment) { return moment.drops ? static_cast<double>(moment.plan.kept) : kNone; });
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

}  // namespace deft::cli
