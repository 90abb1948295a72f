#pragma once
// The weights that a trial starts from, where those are not drawn.

#include <filesystem>

#include "engine/train/trainer.h"
#include "experiments/config.h"
#include "experiments/datasets/dataset.h"

namespace deft::experiments {

// Loads the checkpoint's weights into the trainer's model; moments and counts stay those of a start. Errors: io, for a
// damaged checkpoint; config, for one of another trial than config.start, of another tokenizer than the data's, or of
// another model. The trainer is of no use after one.
void load_start_weights(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                        const std::filesystem::path& checkpoint);

}  // namespace deft::experiments
