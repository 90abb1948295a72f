#include "sweeps/cli/plan_prediction_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/numbers.h"
#include "sweeps/cli/predicted_step.h"

namespace deft::cli {

namespace {

using reporting::Align;
using reporting::Cell;

std::string hours_text(double hours) {
    return hours < 0.1 ? reporting::si(hours * 3600, "s") : fmt::format("{:.1f} h", hours);
}

}  // namespace

void add_predicted_steps(reporting::Table& table, const sweeps::PlanPrediction& prediction) {
    if (std::none_of(prediction.rows.begin(), prediction.rows.end(),
                     [](const sweeps::RowPrediction& row) { return row.training.has_value(); }))
        return;
    const auto memory = std::find_if(table.columns.begin(), table.columns.end(),
                                     [](const auto& column) { return column.title.starts_with("memory"); });
    const auto place = memory - table.columns.begin() + 1;
    table.columns.insert(table.columns.begin() + place, {"predicted\na step"});
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const auto& training = prediction.rows[i].training;
        table.rows[i].insert(table.rows[i].begin() + place,
                             Cell(training ? reporting::small_seconds(training->step_seconds()) : std::string("-")));
    }
}

reporting::Table prediction_table(const sweeps::Plan& plan, const sweeps::PlanPrediction& prediction) {
    reporting::Table table;
    table.caption = fmt::format("Predicted by a model of the card, not measured: {} {} in {}", prediction.on.devices,
                                prediction.device, engine::dtype_name(prediction.on.dtype));
    table.columns = {{"recipe", Align::left}, {"budget"},          {"ops\na step"}, {"between\ndevices"}, {"tokens/s"},
                     {"predicted"},           {"hours by\nFLOPs"}, {"(published)"}};
    table.columns.back().published = true;
    table.key_columns = 2;
    // Hours of other devices are not beside these.
    const bool is_same = plan.device && plan.device->device.name == prediction.device;
    for (std::size_t i = 0; i < prediction.rows.size(); ++i) {
        const auto& training = prediction.rows[i].training;
        if (!training) continue;
        const sweeps::PlanRow& row = plan.rows[i];
        Cell published("-");
        if (is_same && row.published_hours) {
            published = Cell(row.published_hours->cell.number.text + " h");
            published.doubt = row.published_hours->cell.doubt;
        }
        const reporting::Axes axes = reporting::parse_axes(row.trial.axes.dump());
        table.rows.push_back({row.trial.recipe, axes.has_budget ? axes.budget_text() : "-",
                              reporting::small_seconds(training->ops_seconds()),
                              training->between_devices > 0 ? reporting::small_seconds(training->between_devices) : "-",
                              reporting::si(training->tokens_per_second()), hours_text(training->seconds() / 3600),
                              is_same && row.hours ? hours_text(*row.hours) : "-", std::move(published)});
    }
    table.notes = sweeps::prediction_notes(plan, prediction);
    if (!table.rows.empty())
        for (std::string& note : prediction_notes(prediction.on.card, prediction.on.dtype))
            table.notes.push_back(std::move(note));
    return table;
}

}  // namespace deft::cli
