#pragma once
// The trial's configuration in the engine's terms.

#include "engine/train/trainer.h"
#include "experiments/config.h"

namespace deft::experiments {

// Durations given as fractions become steps of the baseline at this budget: ceil(budget / (batch_size x seqlen)).
engine::TrainerConfig trainer_config(const TrialConfig& config);

}  // namespace deft::experiments
