#pragma once
// Rates of a device of experiments/hardware.toml, as the step model of engine/bench/step_model.h takes them.

#include <string>

#include "engine/bench/step_model.h"
#include "experiments/hardware.h"

namespace deft::experiments {

// Activations of a plan that counts FLOPs at a peak of that dtype: bf16 for fp16 and bf16, otherwise f32.
engine::DType activations_of_peak(const std::string& dtype);

// Why the step model predicts nothing on the device with those activations; empty: it does.
std::string lacks_rates(const Device& device, engine::DType dtype);

// The step model's own card where it knows the device, otherwise rates from the device's data sheet. Needs
// lacks_rates() to be empty.
engine::CardModel card_of_device(const Device& device);

}  // namespace deft::experiments
