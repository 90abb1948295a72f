#pragma once
// The matrix products of a training step on a GPU, without one: the model's own code in a dry run, with neither memory
// nor arithmetic.

#include "engine/core/backend.h"
#include "engine/train/trainer_config.h"
#include "kernels/cuda/op_products.h"

namespace deft::engine {

// In the order in which the step asks for them; samples are full, and each has a row of its own. Of a model that looks
// to both sides one position of kPositionsOfTarget has a target, of others every one. Errors: config, for a dtype or
// head size that the backend lacks.
inline constexpr std::int64_t kPositionsOfTarget = 7;  // masked language models mask 15%
kernels::cuda::ProductList planned_products(const TrainerConfig& config, const Backend& backend, const StepPlan& plan);

}  // namespace deft::engine
