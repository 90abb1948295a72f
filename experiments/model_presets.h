#pragma once
// Models by name: each file of experiments/presets/ holds keys of [model], which those of a trial's own table are laid
// over, and how the model's paper trained it.

#include <cstdint>
#include <string>
#include <vector>

#include "base/config.h"
#include "engine/models/transformer_config.h"

namespace deft::experiments {

// Sorted. Errors: missing, where the project's files are not found.
std::vector<std::string> model_presets();

// The keys of [model] in a preset's file. Errors: std::logic_error, for a name that is not one of those.
ConfigNode load_model_preset(const std::string& name);

// A paper's description of a preset's training: [training] of its file, which may state less.
struct PresetTraining {
    std::int64_t vocab = 0;   // entries of its vocabulary; 0: not stated
    std::int64_t tokens = 0;  // of the whole training, repeats and padding counted; 0: not stated
    std::string source;       // who stated the tokens
};
// Errors: config, for a name that is not one of those, with the nearest one, or a damaged table.
PresetTraining preset_training(const std::string& name);

// A preset without changes, without dropout, for a vocabulary of this many entries; for samples that it can take.
// Errors: config, for a name that is not one of those, with the nearest one.
engine::TransformerConfig preset_model(const std::string& name, std::int64_t vocab);

}  // namespace deft::experiments
