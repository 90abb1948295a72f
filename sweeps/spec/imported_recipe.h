#pragma once
// Cases whose model is imported and not trained: start.from names it, and train.budget_tokens = 0.

#include <filesystem>
#include <string>

#include "base/config.h"

namespace deft::sweeps {

// Whether a trial's tables say so.
bool is_imported(const ConfigNode& trial);

// Whether a setting, as of an axis or of --set, applies to such a trial: settings of a training do not, nor of a
// model, which is its files'.
bool concerns_imported(const std::string& path);

// Makes [model] the files' own. `own`: the recipe's tables, which may say model.seqlen, to read fewer positions, and of
// [train] what an imported model is computed with; null: it has none. Relative files start at base_folder. Errors:
// config, with the place, for other keys there; those of engine::open_model().
void take_model_of_files(ConfigNode& trial, const ConfigNode* own, const std::filesystem::path& base_folder);

}  // namespace deft::sweeps
