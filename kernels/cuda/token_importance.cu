#include "kernels/cuda/token_importance.h"

#include <cmath>

#include "kernels/cuda/grid_stride.h"
#include "kernels/entry_loss.h"

namespace deft::kernels::cuda {

namespace {

__global__ void clear_entry_losses(std::int64_t* loss_sum, std::int64_t* count, std::int64_t V) {
    for (std::int64_t v = first_item(); v < V; v += item_stride()) loss_sum[v] = count[v] = 0;
}

// The 64-bit words that the device can add to atomically are unsigned.
__device__ inline void add(std::int64_t* word, std::int64_t value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
}

__global__ void sum_entry_losses(std::int64_t* loss_sum, std::int64_t* count, const float* loss,
                                 const std::int32_t* target, std::int64_t n, std::int64_t V) {
    for (std::int64_t i = first_item(); i < n; i += item_stride()) {
        const std::int32_t entry = target[i];
        if (entry < 0 || entry >= V) continue;
        add(loss_sum + entry, fixed_point_loss(static_cast<double>(loss[i])));
        add(count + entry, 1);
    }
}

__global__ void move_importance(float* importance, const std::int64_t* loss_sum, const std::int64_t* count,
                                const double* norm, const double* loss, std::int64_t V, double decay) {
    if (!isfinite(norm[0]) || !isfinite(loss[0])) return;
    for (std::int64_t v = first_item(); v < V; v += item_stride())
        importance[v] = moved_importance(importance[v], loss_sum[v], count[v], decay);
}

}  // namespace

void add_entry_losses(Exec& exec, std::int64_t* loss_sum, std::int64_t* count, const float* loss,
                      const std::int32_t* target, std::int64_t n, std::int64_t V, Accumulate accumulate) {
    if (accumulate == Accumulate::no)
        launch(exec, over_items("clear_entry_losses", V), clear_entry_losses, loss_sum, count, V);
    launch(exec, over_items("sum_entry_losses", n), sum_entry_losses, loss_sum, count, loss, target, n, V);
}

void update_importance(Exec& exec, float* importance, const std::int64_t* loss_sum, const std::int64_t* count,
                       const double* norm, const double* loss, std::int64_t V, double decay) {
    launch(exec, over_items("move_importance", V), move_importance, importance, loss_sum, count, norm, loss, V, decay);
}

}  // namespace deft::kernels::cuda
