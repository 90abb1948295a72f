#pragma once
// Models by name: each file of experiments/presets/ holds keys of [model], which those of a trial's own table are laid
// over.

#include <cstdint>
#include <string>
#include <vector>

#include "base/config.h"
#include "engine/models/transformer_config.h"

namespace deft::experiments {

// Sorted. Errors: missing, where the project's files are not found.
std::vector<std::string> model_presets();

// The table of a preset's file. Errors: std::logic_error, for a name that is not one of those.
ConfigNode load_model_preset(const std::string& name);

// A preset as it stands, without dropout, for a vocabulary of so many entries; of samples that it can take.
// Errors: config, for a name that is not one of those, with the nearest one.
engine::TransformerConfig preset_model(const std::string& name, std::int64_t vocab);

}  // namespace deft::experiments
