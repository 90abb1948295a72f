#include "sweeps/driver/plan_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "experiments/card_of_device.h"
#include "experiments/communication.h"
#include "experiments/step_time.h"

namespace deft::sweeps {

namespace {

using experiments::PredictedTraining;

std::optional<experiments::DeviceUse> device_of(const Spec& spec, const Plan& plan, const std::string& hardware) {
    if (hardware.empty()) return spec.device;
    experiments::DeviceUse use;
    use.device = experiments::device_named(hardware, {});
    use.devices = spec.device ? spec.device->devices : spec.ranks;
    if (spec.device)
        use.dtype = spec.device->dtype;
    else
        use.dtype = plan.rows.front().trial.config.train.dtype == engine::DType::bf16 ? "bf16" : "fp32";
    return use;
}

// Seconds in which the gradients of an average step are summed over devices.
double gradient_seconds(const Spec& spec, const experiments::DeviceUse& use, const Trial& trial) {
    if (use.devices == 1) return 0;
    const auto plan = experiments::plan_communication(trial.config, planned_device(spec, trial.config),
                                                      static_cast<int>(use.devices));
    return experiments::beside_compute(use.device, plan, trial.config.train.zero).gradients;
}

RowPrediction predict_row(const Spec& spec, const experiments::DeviceUse& use, const PlanPrediction& prediction,
                          const Trial& trial, experiments::PredictedShapes& shapes) {
    RowPrediction row;
    row.lacks = experiments::lacks_prediction(trial.config, trial.projection);
    if (!row.lacks.empty()) return row;
    try {
        PredictedTraining training =
            experiments::predict_training(trial.config, trial.projection, prediction.on, shapes);
        training.between_devices = gradient_seconds(spec, use, trial);
        row.training = std::move(training);
    } catch (const Error& error) {
        row.lacks = first_line(error.what());
    }
    return row;
}

Json row_json(const PlanRow& row, const RowPrediction& prediction) {
    Json json = {{"case", row.trial.recipe}, {"axes", row.trial.axes},       {"lacks", prediction.lacks},
                 {"step_seconds", nullptr},  {"ops_seconds", nullptr},       {"between_devices_seconds", nullptr},
                 {"hours", nullptr},         {"tokens_per_second", nullptr}, {"sampled_steps", Json::array()}};
    if (!prediction.training) return json;
    const PredictedTraining& training = *prediction.training;
    json["step_seconds"] = training.step_seconds();
    json["ops_seconds"] = training.ops_seconds();
    json["between_devices_seconds"] = training.between_devices;
    json["hours"] = training.seconds() / 3600;
    json["tokens_per_second"] = training.tokens_per_second();
    for (const experiments::SampledStep& step : training.sampled)
        json["sampled_steps"].push_back({{"step", step.step},
                                         {"samples", step.samples},
                                         {"seqlen", step.seqlen},
                                         {"kept", step.kept},
                                         {"share", step.share},
                                         {"ops_seconds", step.seconds}});
    return json;
}

}  // namespace

std::optional<PlanPrediction> predict_plan(const Spec& spec, const Plan& plan, const std::string& hardware) {
    if (plan.rows.empty()) return {};
    const std::optional<experiments::DeviceUse> use = device_of(spec, plan, hardware);
    if (!use) return {};
    PlanPrediction prediction;
    prediction.device = use->device.name;
    prediction.on.dtype = experiments::activations_of_peak(use->dtype);
    prediction.on.devices = use->devices;
    prediction.lacks = experiments::lacks_rates(use->device, prediction.on.dtype);
    if (prediction.lacks.empty()) prediction.lacks = experiments::lacks_bandwidth(use->device, use->devices, 1);
    if (use->dtype == "tf32" || use->dtype == "fp64") prediction.lacks = "the step model has no rates in " + use->dtype;
    if (!prediction.lacks.empty()) return prediction;
    prediction.on.card = experiments::card_of_device(use->device);
    if (use->devices > 1) {
        const auto path = experiments::path_between(use->device, use->devices);
        prediction.between =
            fmt::format("{:.4g} GB/s over {} ({})", path->bytes_per_second / 1e9, path->name, path->source);
    }
    experiments::PredictedShapes shapes;
    for (const PlanRow& row : plan.rows)
        prediction.rows.push_back(predict_row(spec, *use, prediction, row.trial, shapes));
    return prediction;
}

std::vector<std::string> prediction_notes(const Plan& plan, const PlanPrediction& prediction) {
    if (!prediction.lacks.empty())
        return {fmt::format("No predicted step: {}. Hours by FLOPs remain.", prediction.lacks)};
    std::vector<std::string> notes = {fmt::format(
        "Predicted steps: the average of up to {} steps, the middles of equal parts of the schedule, each with its own "
        "length, kept tokens and samples; hours are that average times all steps. Samples have their full length.",
        experiments::kSampledSteps)};
    if (!prediction.between.empty())
        notes.push_back(
            fmt::format("A device trains 1/{} of each step, rounded up. Gradients follow without overlap or "
                        "latency at {}.",
                        prediction.on.devices, prediction.between));
    std::map<std::string, std::size_t> lacks;
    for (const RowPrediction& row : prediction.rows)
        if (!row.lacks.empty()) ++lacks[row.lacks];
    for (const auto& [why, rows] : lacks)
        notes.push_back(fmt::format("No predicted step of {} of {} rows: {}. {}", rows, plan.rows.size(), why,
                                    plan.device ? "Their hours by FLOPs remain." : "Their FLOPs remain."));
    return notes;
}

Json to_json(const PlanPrediction& prediction, const Plan& plan) {
    Json json = {{"label", "predicted by a model of the card, not measured"},
                 {"device", prediction.device},
                 {"devices", prediction.on.devices},
                 {"dtype", engine::dtype_name(prediction.on.dtype)},
                 {"lacks", prediction.lacks},
                 {"notes", prediction_notes(plan, prediction)},
                 {"rows", Json::array()}};
    for (std::size_t i = 0; i < prediction.rows.size(); ++i)
        json["rows"].push_back(row_json(plan.rows[i], prediction.rows[i]));
    return json;
}

}  // namespace deft::sweeps
