#pragma once
// Everything that decides what a training run does.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/data_efficiency/sampling/admission.h"
#include "engine/data_efficiency/techniques.h"
#include "engine/models/transformer.h"
#include "engine/optim/learning_rate.h"
#include "engine/optim/optimizer.h"

namespace deft::engine {

struct TrainerConfig {
    TransformerConfig model;
    Techniques techniques;
    std::vector<SampleCurriculum> curricula;  // over the corpus's samples of max_seqlen; none: all from the start
    std::int64_t batch_size = 8;              // samples a step, where no technique changes that
    // Samples of full length at once, and as many tokens where a step has shorter and more of them; gradients are
    // accumulated.
    std::int64_t micro_batch_size = 8;
    // Samples that have padding lie in rows one after the other, without it; else each in rows of its own.
    bool packs_samples = true;
    Recompute recompute = Recompute::none;
    // Ranks among which the experts of each layer are divided; they divide the ranks and each layer's experts.
    int expert_ranks = 1;
    // 1: a rank keeps the moments of its share of the weights alone, and updates no others (ZeRO-1); the same bits.
    int zero = 0;
    // Samples of an epoch, whose last step takes what is left of them; 0: all steps take as many, whatever an epoch is.
    std::int64_t epoch_samples = 0;
    bool whole_steps = false;  // samples after an epoch's last complete step are skipped instead
    std::int64_t budget_layer_tokens = 0;
    LearningRate learning_rate;
    OptimizerConfig optimizer;
    std::uint64_t seed = 0;
};

// Samples of a step, where no technique changes that.
inline std::int64_t batch_of_step(const TrainerConfig& config, std::int64_t step) {
    if (config.epoch_samples == 0 || config.whole_steps) return config.batch_size;
    const std::int64_t steps = (config.epoch_samples + config.batch_size - 1) / config.batch_size;  // of an epoch
    return std::min(config.batch_size, config.epoch_samples - step % steps * config.batch_size);
}

// The number of the step's first draw, where `drawn` samples were trained on before it. Epochs of whole steps begin
// where those of all samples do, each with another order.
inline std::int64_t first_draw(const TrainerConfig& config, std::int64_t step, std::int64_t drawn) {
    if (config.epoch_samples == 0 || !config.whole_steps) return drawn;
    const std::int64_t steps = config.epoch_samples / config.batch_size;  // of an epoch
    return step / steps * config.epoch_samples + step % steps * config.batch_size;
}

inline StepPlan plan_step(const TrainerConfig& config, std::int64_t step) {
    return plan_step(config.model.extents(), config.techniques, step, batch_of_step(config, step));
}
// Rows of the model's input that are trained on at once, where each has seqlen tokens.
inline std::int64_t rows_at_once(const TrainerConfig& config, std::int64_t seqlen) {
    // A class head's buffers are planned for this number of samples, whatever their length.
    if (config.model.class_head) return config.micro_batch_size;
    const bool by_tokens = config.techniques.seqres || config.techniques.variable_batch;
    return by_tokens ? config.micro_batch_size * config.model.max_seqlen / seqlen : config.micro_batch_size;
}

inline LargestStep largest_step(const TrainerConfig& config) {
    return largest_step(config.model.extents(), config.techniques, config.batch_size);
}

}  // namespace deft::engine
