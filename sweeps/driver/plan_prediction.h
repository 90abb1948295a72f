#pragma once
// Predicted times of a plan's rows on one kind of device: those of the step model, beside the hours by FLOPs.

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "experiments/predicted_training.h"
#include "sweeps/driver/plan.h"

namespace deft::sweeps {

struct RowPrediction {
    std::optional<experiments::PredictedTraining> training;
    std::string lacks;  // why there is none; empty: there is one
};

struct PlanPrediction {
    std::string device;  // its name in experiments/hardware.toml
    experiments::PredictedOn on;
    std::string lacks;                // why no row has a prediction; empty: the device has the rates
    std::vector<RowPrediction> rows;  // of the plan's rows, in their order; empty where lacks is not
    std::string between;              // how devices exchange gradients; empty: one device
};

// On `hardware`, a device of experiments/hardware.toml, or the sweep's own where that is empty; nothing where neither
// is named. Activations are bf16 where the sweep counts FLOPs in fp16 or bf16; of a sweep without a device, train.dtype
// decides. A row that cannot be predicted states why and fails nothing. Errors: config, for an unknown device.
std::optional<PlanPrediction> predict_plan(const Spec& spec, const Plan& plan, const std::string& hardware);

// Sentences on what the figures rest on, without the rates of the card.
std::vector<std::string> prediction_notes(const Plan& plan, const PlanPrediction& prediction);

// {"label", "device", "devices", "dtype", "lacks", "rows": [{"case", "axes", "step_seconds", "ops_seconds",
// "between_devices_seconds", "tokens_per_second", "hours", "sampled_steps", "lacks"}]}; null for what is unknown.
Json to_json(const PlanPrediction& prediction, const Plan& plan);

}  // namespace deft::sweeps
