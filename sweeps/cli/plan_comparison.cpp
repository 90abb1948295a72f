#include "sweeps/cli/plan_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reporting/numbers.h"

namespace deft::cli {

namespace {

using reporting::Align;
using reporting::Cell;

std::string quantity_text(const std::string& quantity, double value) {
    return quantity == "USD" ? reporting::dollars(value)
                             : fmt::format("{:.1f} {}", value, quantity == "hours" ? "h" : quantity);
}

std::string planned_text(const sweeps::Plan& plan, const sweeps::Comparison& compared) {
    if (!compared.planned) return "-";
    const bool is_implied = std::string(compared.quantity) == "USD" && plan.price && plan.price->is_implied;
    return quantity_text(compared.quantity, *compared.planned) + (is_implied ? " implied" : "");
}

std::string error_text(const sweeps::Comparison& compared) {
    if (compared.is_fitted) return "fitted";
    const std::optional<double> percent = compared.error_percent();
    if (!percent) return "-";
    return std::abs(*percent) < 0.05 ? "0.0%" : fmt::format("{:+.1f}%", *percent);
}

std::string caption(const sweeps::Plan& plan) {
    const sweeps::PlanRow* fitted = plan.fitted_row();
    if (fitted == nullptr) return "Planned against published";
    return fmt::format("Predicted by one free parameter: {:.4f} of the peak, fitted on {} at {:g}%",
                       plan.device->utilisation, fitted->trial.recipe,
                       100 * fitted->trial.config.train.budget_fraction);
}

std::string seconds_text(double seconds) {
    return reporting::si(seconds, "s");
}

// The row's average step: its products, and the rest.
std::vector<Cell> step_cells(const sweeps::Plan& plan, const sweeps::PlanRow& row) {
    if (!row.beside || !row.hours) return {"-", "-", "-", "-"};
    const auto products = experiments::training_hours(*plan.device, row.trial.projection.step_flops);
    return {seconds_text(*products * 3600), row.beside->rows > 0 ? seconds_text(row.beside->rows) : "-",
            seconds_text(row.beside->gradients), seconds_text(row.beside->update)};
}

}  // namespace

reporting::Table comparison_table(const sweeps::Plan& plan) {
    reporting::Table table;
    table.caption = caption(plan);
    table.columns = {{"recipe", Align::left}, {"budget"}};
    table.key_columns = 2;
    if (plan.counts_exchange)
        for (const char* title : {"products\na step", "rows of\nexperts", "gradients", "update"})
            table.columns.push_back({title});
    table.columns.insert(table.columns.end(), {{"predicted"}, {"(published)"}, {"error"}});
    table.columns[table.columns.size() - 2].published = true;
    for (const sweeps::PlanRow& row : plan.rows)
        for (const sweeps::Comparison& compared : sweeps::comparisons(plan, row)) {
            std::vector<Cell> cells = {row.trial.recipe,
                                       fmt::format("{:g}%", 100 * row.trial.config.train.budget_fraction)};
            if (plan.counts_exchange)
                for (Cell& cell : step_cells(plan, row)) cells.push_back(std::move(cell));
            cells.emplace_back(planned_text(plan, compared));
            Cell published = fmt::format("{} {}", compared.published->cell.number.text, compared.published->unit);
            published.doubt = compared.published->cell.doubt;
            cells.push_back(std::move(published));
            cells.emplace_back(error_text(compared));
            table.rows.push_back(std::move(cells));
        }
    return table;
}

}  // namespace deft::cli
