#include "kernels/cuda/cuda.h"

#include <cmath>

#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/select_cut.h"
#include "kernels/entry_loss.h"

namespace deft::kernels::cuda {

namespace {

constexpr int kThreads = kCutThreads;  // of a block

// One block a row of index (rows, K).
template <class Keys>
__global__ void select_kept(std::int32_t* index, Keys of_rows, std::int64_t T, std::int64_t K) {
    const typename Keys::Row keys = of_rows.row(blockIdx.x, T);
    const Cut cut = select_cut(keys, T, K);
    std::int32_t* kept = index + blockIdx.x * K;  // (K)
    std::uint32_t lower = 0, equal = 0;           // keys below the cut, and at it, before this tile of positions
    for (std::int64_t first = 0; first < T; first += kThreads) {
        const std::int64_t t = first + threadIdx.x;
        const std::uint32_t key = t < T ? keys[t] : 0;
        const std::uint32_t is_lower = t < T && key < cut.key, is_equal = t < T && key == cut.key;
        constexpr int kHalf = 16;  // two counts of at most kThreads in one word
        const Prefix<std::uint32_t> prefix = block_prefix(is_lower | is_equal << kHalf);
        const std::uint32_t lower_before = lower + (prefix.before & 0xffffu);
        const std::uint32_t equal_before = equal + (prefix.before >> kHalf);
        if (is_lower || (is_equal && equal_before < cut.ties))
            kept[lower_before + (equal_before < cut.ties ? equal_before : cut.ties)] = static_cast<std::int32_t>(t);
        lower += prefix.total & 0xffffu;
        equal += prefix.total >> kHalf;
    }
}

}  // namespace

template <class Keys>
void select_kept_tokens(Exec& exec, std::int32_t* index, const Keys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K) {
    if (K == 0) return;
    launch(exec, {"select_kept", rows, kThreads}, select_kept<Keys>, index, keys, T, K);
}

template void select_kept_tokens<RandomKeys>(Exec&, std::int32_t*, const RandomKeys&, std::int64_t, std::int64_t,
                                             std::int64_t);
template void select_kept_tokens<ImportanceKeys>(Exec&, std::int32_t*, const ImportanceKeys&, std::int64_t,
                                                 std::int64_t, std::int64_t);

namespace {

// A thread a token of kept (layers, B, K).
__global__ void pack_kept(std::int32_t* index, std::int32_t* position, const std::int32_t* kept,
                          const std::int32_t* start, const std::int32_t* kept_start, std::int64_t layers,
                          std::int64_t B, std::int64_t K, std::int64_t rows) {
    for (std::int64_t item = first_item(); item < layers * B * K; item += item_stride()) {
        const std::int64_t layer = item / (B * K), b = item / K % B, k = item % K;
        if (k >= kept_start[b + 1] - kept_start[b]) continue;
        const std::int64_t row = layer * rows + kept_start[b] + k;
        position[row] = kept[item];
        index[row] = start[b] + kept[item];
    }
}

}  // namespace

void pack_kept_tokens(Exec& exec, std::int32_t* index, std::int32_t* position, const std::int32_t* kept,
                      const std::int32_t* start, const std::int32_t* kept_start, std::int64_t layers, std::int64_t B,
                      std::int64_t K, std::int64_t rows) {
    launch(exec, over_items("pack_kept", layers * B * K), pack_kept, index, position, kept, start, kept_start, layers,
           B, K, rows);
}

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
