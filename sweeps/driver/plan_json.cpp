// The plan as JSON: deft-plan/1.

#include <string_view>

#include "base/json.h"
#include "sweeps/driver/plan.h"

namespace deft::sweeps {

namespace {

Json number_or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

Json device_json(const experiments::DeviceUse& use) {
    Json json = {{"name", use.device.name},     {"title", use.device.title},
                 {"vendor", use.device.vendor}, {"source", use.device.source},
                 {"devices", use.devices},      {"dtype", nullptr},
                 {"peak_flops", nullptr},       {"utilisation", nullptr},
                 {"memory_bytes", nullptr},     {"memory_bytes_per_second", nullptr},
                 {"machine", nullptr}};
    if (!use.dtype.empty()) json["dtype"] = use.dtype;
    if (use.peak_flops() > 0) json["peak_flops"] = use.peak_flops();
    if (use.utilisation > 0) json["utilisation"] = use.utilisation;
    const experiments::Device& device = use.device;
    if (device.memory_bytes > 0) json["memory_bytes"] = device.memory_bytes;
    if (device.memory_bytes_per_second > 0) json["memory_bytes_per_second"] = device.memory_bytes_per_second;
    if (const auto& machine = device.machine)
        json["machine"] = {{"name", machine->name},
                           {"devices", machine->devices},
                           {"network", machine->network},
                           {"bytes_per_second", machine->bytes_per_second},
                           {"source", machine->source}};
    return json;
}

// Null where the row is trained.
Json imported_json(const experiments::TrialConfig& config) {
    if (!experiments::is_imported(config)) return nullptr;
    return {{"from", config.start->from}, {"format", config.start->format}, {"sha256", config.start->sha256}};
}

Json beside_json(const PlanRow& row) {
    if (!row.beside) return nullptr;
    return {{"rows_seconds", row.beside->rows},
            {"gradients_seconds", row.beside->gradients},
            {"update_seconds", row.beside->update}};
}

// Published values beside planned ones, a quantity each.
Json comparisons_json(const Plan& plan, const PlanRow& row) {
    Json all = Json::array();
    for (const Comparison& compared : comparisons(plan, row))
        all.push_back({{"quantity", compared.quantity},
                       {"planned", number_or_null(compared.planned)},
                       {"published", compared.published->value},
                       {"printed", compared.published->cell.number.text},
                       {"printed_unit", compared.published->unit},
                       {"doubt", compared.published->cell.doubt},
                       {"error_percent", number_or_null(compared.error_percent())},
                       {"fitted", compared.is_fitted}});
    return all;
}

Json hours_error(const Plan& plan, const PlanRow& row) {
    for (const Comparison& compared : comparisons(plan, row))
        if (std::string_view(compared.quantity) == "hours") return number_or_null(compared.error_percent());
    return nullptr;
}

Json row_json(const Plan& plan, const PlanRow& row) {
    const experiments::Projection& projection = row.trial.projection;
    const auto counted = [&](const Json& count) { return projection.has_steps ? count : Json(); };
    return {{"stage", row.trial.stage},
            {"case", row.trial.recipe},
            {"axes", row.trial.axes},
            {"budget_fraction", row.trial.config.train.budget_fraction},
            {"seeds", row.seeds},
            {"imported", imported_json(row.trial.config)},
            {"variant_hash", row.trial.variant_hash},
            {"data_is_here", row.trial.config.data.sha256 != experiments::kDataMissing},
            {"steps", counted(projection.steps)},
            {"parameters", projection.parameters},
            {"active_parameters", projection.active_parameters},
            {"input_tokens", counted(projection.input_tokens)},
            {"layer_tokens", counted(projection.layer_tokens)},
            {"flops", counted(projection.flops)},
            {"memory_bytes", projection.memory_bytes},
            {"chosen_recompute", row.chose_recompute ? Json(name_of(row.trial.config.train.recompute)) : Json()},
            {"hours", number_or_null(row.hours)},
            {"published_hours", row.published_hours ? Json(row.published_hours->cell.number.text) : Json()},
            {"published_hours_doubt", row.published_hours ? row.published_hours->cell.doubt : ""},
            {"hours_error_percent", hours_error(plan, row)},
            {"hours_fitted_on_this", row.is_fitted_on && row.published_hours},
            {"samples_per_second", number_or_null(row.samples_per_second)},
            {"beside_products_a_step", beside_json(row)},
            {"published", comparisons_json(plan, row)},
            {"usd", number_or_null(row.dollars)}};
}

}  // namespace

Json to_json(const Plan& plan) {
    Json json = {
        {"schema", "deft-plan/1"}, {"sweep", plan.sweep},  {"scale", plan.scale},           {"device", nullptr},
        {"price", nullptr},        {"fitted_in", nullptr}, {"not_fitted", plan.not_fitted}, {"notes", plan.notes},
        {"rows", Json::array()}};
    if (plan.device) json["device"] = device_json(*plan.device);
    if (const auto& price = plan.price)
        json["price"] = {{"usd_per_hour", price->usd_per_hour},
                         {"sku", price->sku},
                         {"date", price->date},
                         {"source", price->source},
                         {"implied", price->is_implied}};
    if (plan.fitted_row() != nullptr) json["fitted_in"] = plan.times()->name;
    for (const PlanRow& row : plan.rows) json["rows"].push_back(row_json(plan, row));
    json["total"] = {{"trials", plan.trials},
                     {"places", plan.places},
                     {"flops", plan.flops},
                     {"hours", number_or_null(plan.hours)},
                     {"usd", number_or_null(plan.dollars)}};
    return json;
}

}  // namespace deft::sweeps
