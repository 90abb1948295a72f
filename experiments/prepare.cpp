#include "experiments/prepare.h"

#include "experiments/curriculum_entries.h"
#include "experiments/datasets/difficulty.h"
#include "experiments/difficulty_column.h"

namespace deft::experiments {

void prepare_data(const TrialConfig& config, const std::filesystem::path& data_folder,
                  const PrepareProgress& progress) {
    const Dataset samples = load_dataset(config.data, config.model.seqlen, config.base_folder, data_folder, progress);
    if (!config.curriculum) return;
    check_columns(config, samples);
    for (const CurriculumMetric& metric : config.curriculum->metrics)
        if (orders_samples(metric) && metric.column.empty()) load_difficulty(samples, metric.entry->measure, progress);
}

}  // namespace deft::experiments
