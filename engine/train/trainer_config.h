#pragma once
// Everything that decides what a training run does.

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
    Recompute recompute = Recompute::none;
    std::int64_t budget_layer_tokens = 0;
    LearningRate learning_rate;
    OptimizerConfig optimizer;
    std::uint64_t seed = 0;
};

inline StepPlan plan_step(const TrainerConfig& config, std::int64_t step) {
    return plan_step(config.model.extents(), config.techniques, step, config.batch_size);
}
inline LargestStep largest_step(const TrainerConfig& config) {
    return largest_step(config.model.extents(), config.techniques, config.batch_size);
}

}  // namespace deft::engine
