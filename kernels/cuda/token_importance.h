#pragma once
// The importance of each vocabulary entry: a moving average of the loss of the targets that are it (Hou et al. 2022,
// section 3). Shapes and meaning: kernels/cpu/token_importance.h.

#include "kernels/cuda/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cuda {

// Atomic sums of integers, whose order cannot be seen.
void add_entry_losses(Exec&, std::int64_t* loss_sum, std::int64_t* count, const float* loss, const std::int32_t* target,
                      std::int64_t n, std::int64_t V, Accumulate);

void update_importance(Exec&, float* importance, const std::int64_t* loss_sum, const std::int64_t* count,
                       const double* norm, const double* loss, std::int64_t V, double decay);

}  // namespace deft::kernels::cuda
