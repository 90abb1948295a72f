#include "kernels/cpu/token_importance.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/parallel.h"
#include "kernels/entry_loss.h"

namespace deft::kernels::cpu {

void add_entry_losses(Exec&, std::int64_t* loss_sum, std::int64_t* count, const float* loss, const std::int32_t* target,
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

void update_importance(Exec& exec, float* importance, const std::int64_t* loss_sum, const std::int64_t* count,
                       const double* norm, const double* loss, std::int64_t V, double decay) {
    if (!std::isfinite(norm[0]) || !std::isfinite(loss[0])) return;
    constexpr std::int64_t kChunk = 1 << 14;
    parallel_items(exec.threads, ceil_div(V, kChunk), [&](std::int64_t chunk, int) {
        for (std::int64_t v = chunk * kChunk; v < std::min(V, (chunk + 1) * kChunk); ++v)
            importance[v] = moved_importance(importance[v], loss_sum[v], count[v], decay);
    });
}

}  // namespace deft::kernels::cpu
