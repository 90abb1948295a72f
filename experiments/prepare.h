#pragma once
// Inputs that trials of one configuration share, made before they start: the tokenised corpus and difficulty indexes.

#include <filesystem>

#include "experiments/config.h"
#include "experiments/datasets/dataset.h"

namespace deft::experiments {

// Makes what is not there yet, and checks the columns of difficulties that it names. Errors: as load_dataset(),
// load_difficulty() and open_column().
void prepare_data(const TrialConfig& config, const std::filesystem::path& data_folder, const PrepareProgress& progress);

}  // namespace deft::experiments
