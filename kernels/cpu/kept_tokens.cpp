#include "kernels/cpu/cpu.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/workspace.h"
#include "kernels/entry_loss.h"

namespace deft::kernels::cpu {

namespace {

template <class Keys>
void select(Exec& exec, std::int32_t* index, const Keys& keys, std::int64_t rows, std::int64_t T, std::int64_t K) {
    require_workspace(exec, select_kept_tokens_workspace(exec.threads, T), "select_kept_tokens");
    const std::size_t thread_bytes = select_kept_tokens_workspace(1, T);
    parallel_items(exec.threads, rows, [&](std::int64_t row, int thread) {
        std::int32_t* kept = index + row * K;  // (K)
        if (K == T) {
            std::iota(kept, kept + K, 0);
            return;
        }
        if (K == 0) return;
        // Key and position in one word: ordered by key, then by position, all different.
        auto* ranked = scratch<std::uint64_t>(exec, static_cast<std::size_t>(thread) * thread_bytes);  // (T)
        std::uint64_t* by_position = ranked + T;                                                       // (T)
        const typename Keys::Row of_row = keys.row(row, T);
#pragma omp simd
        for (std::int64_t t = 0; t < T; ++t)
            by_position[t] = std::uint64_t{of_row[t]} << 32 | static_cast<std::uint32_t>(t);
        std::copy_n(by_position, T, ranked);
        std::nth_element(ranked, ranked + K - 1, ranked + T);
        const std::uint64_t last_kept = ranked[K - 1];
        for (std::int64_t t = 0; t < T; ++t)
            if (by_position[t] <= last_kept) *kept++ = static_cast<std::int32_t>(t);
    });
}

}  // namespace

template <>
void select_kept_tokens(Exec& exec, std::int32_t* index, const RandomKeys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K) {
    select(exec, index, keys, rows, T, K);
}

template <>
void select_kept_tokens(Exec& exec, std::int32_t* index, const ImportanceKeys& keys, std::int64_t rows, std::int64_t T,
                        std::int64_t K) {
    select(exec, index, keys, rows, T, K);
}

std::size_t select_kept_tokens_workspace(int threads, std::int64_t T) {
    return static_cast<std::size_t>(threads) * scratch_bytes<std::uint64_t>(2 * T);
}

void pack_kept_tokens(Exec& exec, std::int32_t* index, std::int32_t* position, const std::int32_t* kept,
                      const std::int32_t* start, const std::int32_t* kept_start, std::int64_t layers, std::int64_t B,
                      std::int64_t K, std::int64_t rows) {
    parallel_items(exec.threads, layers * B, [&](std::int64_t item, int) {
        const std::int64_t b = item % B, first = item / B * rows + kept_start[b];
        for (std::int64_t k = 0; k < kept_start[b + 1] - kept_start[b]; ++k) {
            position[first + k] = kept[item * K + k];
            index[first + k] = start[b] + position[first + k];
        }
    });
}

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
