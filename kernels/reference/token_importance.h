#pragma once
// The importance of each vocabulary entry: a moving average of the loss of the targets that are it (Hou et al. 2022,
// section 3).

#include <algorithm>
#include <cmath>

#include "kernels/entry_loss.h"
#include "kernels/reference/exec.h"
#include "kernels/types.h"

namespace deft::kernels::reference {

// loss_sum, count (V); loss, target (n). Targets outside the vocabulary count for nothing.
template <class Real>
void add_entry_losses(Exec&, std::int64_t* loss_sum, std::int64_t* count, const Real* loss, const std::int32_t* target,
                      std::int64_t n, std::int64_t V, Accumulate accumulate) {
    if (accumulate == Accumulate::no) {
        std::fill_n(loss_sum, V, 0);
        std::fill_n(count, V, 0);
    }
    for (std::int64_t i = 0; i < n; ++i) {
        if (target[i] < 0 || target[i] >= V) continue;
        loss_sum[target[i]] += fixed_point_loss(static_cast<double>(loss[i]));
        count[target[i]] += 1;
    }
}

// Nothing is written when norm[0] or loss[0] is not finite.
inline void update_importance(Exec&, float* importance, const std::int64_t* loss_sum, const std::int64_t* count,
                              const double* norm, const double* loss, std::int64_t V, double decay) {
    if (!std::isfinite(norm[0]) || !std::isfinite(loss[0])) return;
    for (std::int64_t v = 0; v < V; ++v) importance[v] = moved_importance(importance[v], loss_sum[v], count[v], decay);
}

}  // namespace deft::kernels::reference
