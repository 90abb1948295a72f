#include "experiments/debug_state.h"

#include <fmt/format.h>

#include "engine/train/debug_state.h"
#include "experiments/datasets/dataset.h"
#include "experiments/engine_config.h"
#include "experiments/start_weights.h"

namespace deft::experiments {

namespace {

// Samples, at full length, of a micro-batch that holds every step whole, its padding too.
std::int64_t micro_batch_of_whole_steps(const TrialConfig& config) {
    const std::int64_t seqlen = config.model.seqlen;
    const engine::LargestStep largest = engine::largest_step(trainer_config(config));
    const bool classifies_samples = trainer_config(config).model.class_head.has_value();
    if (classifies_samples) return largest.samples;  // its micro-batches are counted in samples
    const bool by_tokens = config.variable_batch || (config.curriculum && config.curriculum->joins_samples());
    return by_tokens ? (largest.tokens + seqlen - 1) / seqlen + 1 : config.train.batch_size;
}

}  // namespace

void write_debug_state(TrialConfig config, const std::filesystem::path& data_folder, std::int64_t step, int threads,
                       const std::filesystem::path& file) {
    config.train.micro_batch_size = micro_batch_of_whole_steps(config);
    const Dataset dataset = load_dataset(config.data, config.model.seqlen, config.base_folder, data_folder);
    engine::TrainerConfig trainer_settings = trainer_config(config);
    engine::require_checkable(trainer_settings.model);
    add_curriculum(trainer_settings, config, dataset);
    engine::Trainer trainer(trainer_settings, dataset.train, threads);
    if (config.start) load_start_weights(config, dataset, trainer, {});
    for (std::int64_t done = 0; done < step - 1 && !trainer.done(); ++done) trainer.step();
    if (trainer.done())
        throw Error(ErrorKind::usage,
                    fmt::format("step {} exceeds the trial's {} steps", step, trainer.counts().steps));
    engine::write_debug_state(trainer, file);
}

}  // namespace deft::experiments
