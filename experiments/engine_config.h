#pragma once
// The trial's configuration in the engine's terms.

#include "engine/train/trainer.h"
#include "experiments/config.h"
#include "experiments/datasets/load.h"

namespace deft::experiments {

// Durations given as fractions become steps of the baseline at this budget: ceil(budget / (batch_size x seqlen)).
engine::TrainerConfig trainer_config(const TrialConfig& config);

// Where the trial computes: on that device, in its dtype.
engine::Backend backend_of(const TrialConfig& config, engine::Device device, int threads);

// Adds what needs the corpus: the order of its samples by difficulty. Errors: io.
void add_curriculum(engine::TrainerConfig& trainer, const TrialConfig& config, const Dataset& dataset);

}  // namespace deft::experiments
