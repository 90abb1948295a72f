#include "sweeps/driver/plan_time.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "reporting/numbers.h"
#include "sweeps/driver/machine_limits.h"
#include "sweeps/spec/published_tables.h"

namespace deft::sweeps {

namespace {

using reporting::PublishedColumn;
using reporting::PublishedTable;

// ---- what was published --------------------------------------------------------------------------------------------

// How many of the plan's units one of the column's is; nothing where they measure different things.
std::optional<double> unit_factor(const PublishedColumn& column, const std::string& quantity) {
    if (!column.measures || reporting::to_text(*column.measures) != quantity) return {};
    if (quantity != "cost usd") return 1;
    if (column.unit == "USD") return 1;
    if (column.unit == "K USD") return 1e3;
    if (column.unit == "M USD") return 1e6;
    return {};
}

std::optional<PublishedValue> published_value(const PublishedTable* table, const Trial& trial,
                                              const std::string& quantity) {
    if (table == nullptr) return {};
    const auto* row = table->find(trial.recipe, trial.config.train.budget_fraction);
    if (row == nullptr) return {};
    for (const PublishedColumn& column : table->columns)
        if (const auto factor = unit_factor(column, quantity))
            if (const reporting::PublishedCell* cell = row->find(column.key); cell != nullptr && cell->number.value > 0)
                return PublishedValue{*cell,     *factor * cell->number.value, column.unit, table->name, row->name(),
                                      column.key};
    return {};
}

// Published times and dollars are of pretraining, and an imported model takes none.
bool may_be_published(const Trial& trial) {
    if (experiments::is_imported(trial.config)) return false;
    return !trial.parent || trial.config.data.samples != experiments::SampleKind::labelled;
}

void add_published(Plan& plan) {
    for (PlanRow& row : plan.rows) {
        if (!may_be_published(row.trial)) continue;
        row.published_hours = published_value(plan.times(), row.trial, "train hours");
        row.published_rate = published_value(plan.times(), row.trial, "throughput samples/s");
        row.published_dollars = published_value(plan.published ? &*plan.published : nullptr, row.trial, "cost usd");
    }
}

// ---- time beside the products --------------------------------------------------------------------------------------

std::int64_t expert_ranks(const PlanRow& row) {
    return experiments::is_imported(row.trial.config) ? 1 : row.trial.config.train.expert_ranks;
}

experiments::BesideCompute beside_compute(const Spec& spec, const experiments::DeviceUse& use, const Trial& trial) {
    const auto plan =
        experiments::plan_communication(trial.config, planned_device(spec, trial.config), static_cast<int>(use.devices),
                                        static_cast<int>(trial.config.train.expert_ranks));
    return experiments::beside_compute(use.device, plan, trial.config.train.zero);
}

// Where a row divides its experts, all rows are planned with what is between devices, so that they can be compared.
void add_beside_compute(const Spec& spec, Plan& plan) {
    const experiments::DeviceUse& use = *plan.device;
    std::int64_t most = 1;
    for (const PlanRow& row : plan.rows) most = std::max(most, expert_ranks(row));
    plan.counts_exchange = most > 1;
    if (!plan.counts_exchange || use.peak_flops() == 0) return;
    if (const std::string lack = experiments::lacks_bandwidth(use.device, use.devices, most); !lack.empty()) {
        plan.lacks = fmt::format(
            "devices exchange rows of experts, and {}; add it there with its source, or plan for another"
            " device",
            lack);
        return;
    }
    for (PlanRow& row : plan.rows) {
        if (experiments::is_imported(row.trial.config)) continue;
        try {
            row.beside = beside_compute(spec, use, row.trial);
        } catch (const Error& error) {
            const std::string what = error.what();
            plan.lacks = fmt::format("on {} {} recipe {} cannot be trained: {}; choose resources.devices that can",
                                     use.devices, use.device.name, row.trial.recipe, what.substr(0, what.find('\n')));
            return;
        }
    }
}

double beside_seconds(const PlanRow& row) {
    return row.beside ? static_cast<double>(row.trial.projection.steps) * row.beside->seconds() : 0;
}

// ---- the share of the peak -----------------------------------------------------------------------------------------

// Whether the row is of the model and the tokens whose times were published, as far as these are known: within a tenth.
bool is_as_published(const PlanRow& row, const PublishedTable& table) {
    if (!table.regime) return true;
    const auto is_near = [](double planned, double published) {
        return published <= 0 || std::abs(planned / published - 1) <= 0.1;
    };
    const experiments::Projection& projection = row.trial.projection;
    return is_near(static_cast<double>(projection.active_parameters), table.regime->parameters) &&
           is_near(static_cast<double>(projection.layer_tokens),
                   table.regime->tokens * row.trial.config.train.budget_fraction);
}

}  // namespace

std::string other_hardware(const PublishedTable& table, const experiments::DeviceUse& use) {
    if (!table.hardware) return fmt::format("and {} names no hardware that they were measured on", table.name);
    const std::vector<std::string>& names = table.hardware->any_of;
    const bool same =
        table.hardware->devices == use.devices && std::find(names.begin(), names.end(), use.device.name) != names.end();
    if (same) return {};
    return fmt::format("which were measured on {} {}, not on {} {}", table.hardware->devices, fmt::join(names, " or "),
                       use.devices, use.device.name);
}

namespace {

PlanRow* row_to_fit_on(Plan& plan, const std::string& recipe) {
    PlanRow* fitted = nullptr;
    for (PlanRow& row : plan.rows)
        if (row.trial.recipe == recipe && (row.published_hours || row.published_rate) &&
            (fitted == nullptr || row.trial.config.train.budget_fraction > fitted->trial.config.train.budget_fraction))
            fitted = &row;
    return fitted;
}

double published_seconds(const PlanRow& row) {
    return row.published_hours ? row.published_hours->value * 3600 : row.samples() / row.published_rate->value;
}

// The one free parameter: the share of the peak with which the row's FLOPs, and what is beside them, take its published
// time. Returns why there is none; empty: it was fitted.
std::string fit_utilisation(Plan& plan, const std::string& recipe) {
    PlanRow* row = row_to_fit_on(plan, recipe);
    if (row == nullptr || !row->trial.projection.has_steps || !is_as_published(*row, *plan.times()))
        return "which is not planned here as it was published";
    if (std::string other = other_hardware(*plan.times(), *plan.device); !other.empty()) return other;
    const double seconds = published_seconds(*row) - beside_seconds(*row);
    if (!(seconds > 0))
        return fmt::format("and the bytes between devices alone would take {:.1f} hours of its published {:.1f}",
                           beside_seconds(*row) / 3600, published_seconds(*row) / 3600);
    const double share =
        row->trial.projection.flops / (seconds * static_cast<double>(plan.device->devices) * plan.device->peak_flops());
    if (share > 1) return fmt::format("which would take {:.3g} times the devices' peak", share);
    plan.device->utilisation = share;
    row->is_fitted_on = true;
    return {};
}

// ---- hours and dollars ---------------------------------------------------------------------------------------------

void add_hours(const Plan& plan, PlanRow& row) {
    if (experiments::is_imported(row.trial.config) || !row.trial.projection.has_steps || !plan.lacks.empty()) return;
    row.hours = experiments::training_hours(*plan.device, row.trial.projection.flops);
    if (!row.hours) return;
    *row.hours += beside_seconds(row) / 3600;
    if (*row.hours > 0) row.samples_per_second = row.samples() / (*row.hours * 3600);
}

// The price that a paper's printed dollars and hours imply for the fitted row.
std::optional<PlanPrice> implied_price(const Plan& plan) {
    const PlanRow* row = plan.fitted_row();
    if (row == nullptr || !row->published_hours || !row->published_dollars) return {};
    const double device_hours = row->published_hours->value * static_cast<double>(plan.device->devices);
    PlanPrice price;
    price.usd_per_hour = row->published_dollars->value / device_hours;
    price.source = fmt::format("implied by the published {} {} in {} h on {} {}",
                               row->published_dollars->cell.number.text, row->published_dollars->unit,
                               row->published_hours->cell.number.text, plan.device->devices, plan.device->device.name);
    price.is_implied = true;
    return price;
}

std::optional<PlanPrice> plan_price(const Spec& spec, const Plan& plan) {
    if (const auto& price = spec.price)
        return PlanPrice{price->usd_per_hour, price->sku, reporting::date(price->date_ms), price->source};
    const experiments::Device& device = plan.device->device;
    if (const auto& price = device.price)
        return PlanPrice{price->usd_per_hour, device.name, price->date, price->source};
    return implied_price(plan);
}

void add_cost(Plan& plan, PlanRow& row) {
    if (!row.hours) return;
    const auto seeds = static_cast<double>(row.trained);
    plan.hours = plan.hours.value_or(0) + seeds * *row.hours;
    if (!plan.price) return;
    row.dollars = static_cast<double>(plan.device->devices) * *row.hours * plan.price->usd_per_hour;
    plan.dollars = plan.dollars.value_or(0) + seeds * *row.dollars;
}

}  // namespace

void add_times(const Spec& spec, Plan& plan) {
    plan.published = published_table(spec.paper);
    plan.fitted_in = published_table(spec.fitted_in);
    add_published(plan);
    add_beside_compute(spec, plan);
    if (!spec.fitted_on.empty() && plan.device->peak_flops() > 0 && plan.lacks.empty())
        plan.not_fitted = fit_utilisation(plan, spec.fitted_on);
    for (PlanRow& row : plan.rows) add_hours(plan, row);
    plan.price = plan_price(spec, plan);
    for (PlanRow& row : plan.rows) add_cost(plan, row);
}

}  // namespace deft::sweeps
