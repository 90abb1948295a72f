#include "experiments/difficulty_column.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/sha256.h"
#include "experiments/datasets/difficulty.h"
#include "experiments/datasets/find_file.h"

namespace deft::experiments {

engine::DifficultyIndex open_column(const CurriculumMetric& metric, const TrialConfig& config, const Dataset& samples) {
    const std::filesystem::path file = find_data_file(metric.column, config.base_folder);
    if (sha256_file(file) != metric.column_sha256)
        throw Error(ErrorKind::config, fmt::format("{} has changed since this trial was planned", file.string()),
                    "run the sweep again: it will be planned again");
    return open_difficulty(samples, file);
}

void check_columns(const TrialConfig& config, const Dataset& samples) {
    if (!config.curriculum) return;
    for (const CurriculumMetric& metric : config.curriculum->metrics)
        if (!metric.column.empty()) open_column(metric, config, samples);
}

std::string check_columns(const TrialConfig& config, const std::filesystem::path& data_folder,
                          const PrepareProgress& progress) {
    const Dataset samples = load_dataset(config.data, config.model.seqlen, config.base_folder, data_folder, progress);
    check_columns(config, samples);
    return samples.note;
}

bool has_columns(const TrialConfig& config) {
    if (!config.curriculum) return false;
    const auto& metrics = config.curriculum->metrics;
    const auto has_column = [](const CurriculumMetric& metric) { return !metric.column.empty(); };
    const auto is_missing = [](const CurriculumMetric& metric) { return metric.column_sha256 == kDataMissing; };
    return std::any_of(metrics.begin(), metrics.end(), has_column) &&
           std::none_of(metrics.begin(), metrics.end(), is_missing);
}

}  // namespace deft::experiments
