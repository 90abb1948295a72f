#include "sweeps/driver/plan.h"

#include <algorithm>
#include <set>

#include "reporting/numbers.h"
#include "sweeps/driver/machine_limits.h"
#include "sweeps/driver/plan_notes.h"
#include "sweeps/driver/plan_time.h"

namespace deft::sweeps {

namespace {

std::vector<PlanRow> rows_of(std::vector<Trial> trials) {
    std::vector<PlanRow> rows;
    std::set<std::string> trained;
    for (Trial& trial : trials) {
        const std::int64_t seed = trial.seed;
        const bool is_new = trained.insert(trial.config_hash).second;
        // Places that differ in what is asked alone share a training, and are rows of their own.
        if (rows.empty() || rows.back().trial.variant_hash != trial.variant_hash ||
            rows.back().trial.axes != trial.axes || rows.back().trial.recipe != trial.recipe ||
            rows.back().trial.stage != trial.stage)
            rows.emplace_back().trial = std::move(trial);
        rows.back().seeds.push_back(seed);
        rows.back().trained += is_new;
    }
    return rows;
}

void choose_recompute(const Spec& spec, const Slot& slot, PlanRow& row) {
    Trial& trial = row.trial;
    row.chose_recompute = trial.config.train.recompute == experiments::RecomputeChoice::automatic &&
                          !experiments::is_imported(trial.config);
    trial = with_recompute(trial, slot, planned_device(spec, trial.config));
}

std::string recompute_note(const Slot& slot) {
    const std::int64_t limit = memory_limit(slot);
    if (limit == 0)
        return "train.recompute = \"auto\" takes none, because the memory of a worker is not known here; deft run "
               "takes what fits the worker that it finds.";
    return "train.recompute = \"auto\" takes the first of none, activation and block whose plan fits " +
           reporting::binary_bytes(static_cast<double>(limit)) + (slot.ranks == 1 ? "." : " of a rank.");
}

}  // namespace

double PlanRow::samples() const {
    return static_cast<double>(trial.projection.input_tokens) / static_cast<double>(trial.config.model.seqlen);
}

std::optional<double> Comparison::error_percent() const {
    if (!planned) return {};
    return 100 * (*planned / published->value - 1);
}

std::vector<Comparison> comparisons(const Plan& plan, const PlanRow& row) {
    std::vector<Comparison> all;
    const auto add = [&](const char* quantity, const std::optional<double>& planned,
                         const std::optional<PublishedValue>& value, bool fitted) {
        if (value) all.push_back({quantity, planned, &*value, fitted});
    };
    add("hours", row.hours, row.published_hours, row.is_fitted_on);
    // A row with both is fitted on its hours.
    add("samples/s", row.samples_per_second, row.published_rate, row.is_fitted_on && !row.published_hours);
    add("USD", row.dollars, row.published_dollars, row.is_fitted_on && plan.price && plan.price->is_implied);
    return all;
}

const reporting::PublishedTable* Plan::times() const {
    if (fitted_in) return &*fitted_in;
    return published ? &*published : nullptr;
}

const PlanRow* Plan::fitted_row() const {
    const auto fitted = std::find_if(rows.begin(), rows.end(), [](const PlanRow& row) { return row.is_fitted_on; });
    return fitted == rows.end() ? nullptr : &*fitted;
}

Plan make_plan(const Spec& spec, std::vector<Trial> trials, const Slot& slot) {
    Plan plan;
    plan.sweep = spec.name;
    plan.scale = spec.scale.empty() ? "as written" : spec.scale;
    plan.device = spec.device;
    plan.places = trials.size();
    const std::int64_t checkpoints = checkpoint_bytes(trials);
    plan.rows = rows_of(std::move(trials));
    for (PlanRow& row : plan.rows) choose_recompute(spec, slot, row);
    for (const PlanRow& row : plan.rows) {
        plan.trials += row.trained;
        plan.flops += static_cast<double>(row.trained) * row.trial.projection.flops;
    }
    if (plan.device) add_times(spec, plan);
    plan.notes = plan_notes(spec, plan, checkpoints);
    if (std::ranges::any_of(plan.rows, &PlanRow::chose_recompute)) plan.notes.push_back(recompute_note(slot));
    return plan;
}

}  // namespace deft::sweeps
