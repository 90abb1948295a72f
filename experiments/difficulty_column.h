#pragma once
// The file of difficulties that a curriculum's metric names: [curriculum.METRIC] column.

#include <filesystem>
#include <string>

#include "engine/data_efficiency/sampling/difficulty_index.h"
#include "experiments/config.h"
#include "experiments/datasets/dataset.h"

namespace deft::experiments {

// Errors: config, where the file is not the one that was planned with, or does not belong to these samples, such as by
// another number of values; io.
engine::DifficultyIndex open_column(const CurriculumMetric& metric, const TrialConfig& config, const Dataset& samples);

// Opens every column of the trial, so that one that does not fit is found before anything is trained. The corpus is
// tokenised where that is not done yet: how many samples it has is not known before. Errors: as open_column() and
// load_dataset(). The second gives the corpus's note, see Dataset.
void check_columns(const TrialConfig& config, const Dataset& samples);
std::string check_columns(const TrialConfig& config, const std::filesystem::path& data_folder,
                          const PrepareProgress& progress);

// Whether any metric's difficulties come from a file, and all such files are here.
bool has_columns(const TrialConfig& config);

}  // namespace deft::experiments
