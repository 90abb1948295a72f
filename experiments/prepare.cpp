#include "experiments/prepare.h"

#include "experiments/datasets/difficulty.h"

namespace deft::experiments {

void prepare_data(const TrialConfig& config, const std::filesystem::path& data_folder,
                  const PrepareProgress& progress) {
    const Dataset dataset = load_dataset(config.data, config.base_folder, data_folder, progress);
    if (!config.curriculum) return;
    for (const CurriculumMetric& metric : config.curriculum->metrics)
        if (orders_samples(metric) && metric.column.empty())
            load_difficulty(dataset, metric.metric, config.model.seqlen, progress);
}

}  // namespace deft::experiments
