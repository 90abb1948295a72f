#pragma once
// The weights that a trial starts from, where those are not drawn.

#include <filesystem>
#include <string>

#include "engine/train/trainer.h"
#include "experiments/config.h"
#include "experiments/datasets/dataset.h"

namespace deft::experiments {

// Copies weights by name into the trainer's model; moments and counts stay those of a start. checkpoint: of
// config.start's trial, or empty where that names a model. A head of classes stays as it was drawn, unless the weights
// are of the same data. Returns what was not simply copied, for people; empty: nothing. Errors: io, for damaged files;
// config, for those of another trial, changed since the trial was planned, or of another model or tokenizer. The
// trainer is of no use after one.
std::string load_start_weights(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                               const std::filesystem::path& checkpoint);

// The same for an imported model (is_imported()), which no trainer holds: all of its weights must be in the files,
// those of a head of classes too. Returns the format that keeps them: bf16 where the files do, else f32.
engine::DType load_imported_weights(const TrialConfig& config, const Dataset& dataset, engine::Exec& exec,
                                    engine::Transformer& model, std::string& note);

}  // namespace deft::experiments
