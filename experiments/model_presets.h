#pragma once
// Models by name: each file of experiments/presets/ holds keys of [model], which those of a trial's own table are laid
// over.

#include <string>
#include <vector>

#include "base/config.h"

namespace deft::experiments {

// Sorted. Errors: missing, where the project's files are not found.
std::vector<std::string> model_presets();

// The table of a preset's file. Errors: std::logic_error, for a name that is not one of those.
ConfigNode load_model_preset(const std::string& name);

}  // namespace deft::experiments
