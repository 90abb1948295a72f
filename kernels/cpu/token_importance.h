#pragma once
// The importance of each vocabulary entry: a moving average of the loss of the targets that are it (Hou et al. 2022,
// section 3).

#include "kernels/cpu/exec.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// Sums and counts of a step's losses by target: loss_sum in units of kLossUnits (kernels/entry_loss.h), count (V);
// loss, target (n). Targets outside the vocabulary, kIgnoreTarget among them, count for nothing.
void add_entry_losses(Exec&, std::int64_t* loss_sum, std::int64_t* count, const float* loss, const std::int32_t* target,
                      std::int64_t n, std::int64_t V, Accumulate);

// importance (V) = decay x importance + (1 - decay) x mean loss, of the entries that occurred and are not kAlwaysKept.
// Nothing is written when norm[0] or loss[0] is not finite, as the optimizer then writes nothing.
void update_importance(Exec&, float* importance, const std::int64_t* loss_sum, const std::int64_t* count,
                       const double* norm, const double* loss, std::int64_t V, double decay);

}  // namespace deft::kernels::cpu
