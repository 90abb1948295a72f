#pragma once
// The trial's configuration in the engine's terms.

#include <map>
#include <string>

#include "engine/train/trainer.h"
#include "experiments/config.h"
#include "experiments/datasets/dataset.h"

namespace deft::experiments {

// Steps of the baseline at this budget: ceil(budget / (batch_size x seqlen)).
std::int64_t baseline_steps_of(const TrialConfig& config);

// Durations given as fractions become steps of the baseline at this budget.
engine::TrainerConfig trainer_config(const TrialConfig& config);

// Whether experts keep to training's capacity where the model is scored. It decides no weight.
void set_scoring_capacity(engine::TransformerConfig& model, bool keeps);

engine::OptimizerConfig optimizer_config(const TrainConfig& train);

// Where the trial computes: on that device, in its dtype.
engine::Backend backend_of(const TrialConfig& config, engine::Device device, int threads);

// For each metric, the growing difficulty up to which samples are admitted; its clock shows step + 1.
std::map<std::string, engine::Pacing> difficulty_pacings(const TrialConfig& config);

// Adds what needs the corpus: the order of its samples by difficulty. Returns the seconds in which another process was
// finding that out. Errors: io.
double add_curriculum(engine::TrainerConfig& trainer, const TrialConfig& config, const Dataset& samples);

}  // namespace deft::experiments
