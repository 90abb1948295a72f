#pragma once
// What trials of one configuration share, made before they start: the tokenised corpus and its difficulty indexes.

#include <filesystem>

#include "experiments/config.h"
#include "experiments/datasets/load.h"

namespace deft::experiments {

// Makes what is not there yet. Errors: as load_dataset() and load_difficulty().
void prepare_data(const TrialConfig& config, const std::filesystem::path& data_folder, const PrepareProgress& progress);

}  // namespace deft::experiments
